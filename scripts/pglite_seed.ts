/**
 * Writes `bridge/store/pglite_seed.json`: a fresh data folder of PGlite, so
 * that `--embedded` need not run initdb, which costs seconds. It holds nothing
 * of ours: migrations are applied over it. Needed again only when PGlite
 * changes: `deno run -A scripts/pglite_seed.ts`
 */
import { PGlite } from "@electric-sql/pglite";

const SEED = new URL("../bridge/store/pglite_seed.json", import.meta.url);
const VERSION: string = JSON.parse(
  await Deno.readTextFile(new URL("../deno.json", import.meta.url)),
).imports["@electric-sql/pglite"].split("@").at(-1);

const dir = await Deno.makeTempDir();
try {
  // Small segments: the folder takes 12 MB instead of 39.
  const first = await PGlite.create({
    dataDir: dir,
    initDbStartParams: ["--wal-segsize=1"],
  });
  for (
    const setting of [
      "min_wal_size = '2MB'",
      "max_wal_size = '16MB'",
      "wal_recycle = off",
    ]
  ) await first.exec(`alter system set ${setting}`);
  await first.exec("update pg_database set datistemplate = false");
  await first.exec("drop database template0");
  await first.exec("drop database template1");
  await first.exec("vacuum full");
  await first.exec("checkpoint");
  await first.close();
  for (let round = 0; round < 2; round++) await dropOldLog();
  const last = await PGlite.create({ dataDir: dir });
  const archive = await last.dumpDataDir("gzip");
  await last.close();
  const bytes = new Uint8Array(await archive.arrayBuffer());
  const text = JSON.stringify(
    { pglite: VERSION, tarGzip: toBase64(bytes) },
    null,
    2,
  );
  await Deno.writeTextFile(SEED, `${text}\n`);
} finally {
  await Deno.remove(dir, { recursive: true });
}

/** Leaves only the newest segment of the write-ahead log. */
async function dropOldLog(): Promise<void> {
  const db = await PGlite.create({ dataDir: dir });
  await db.exec("select pg_switch_wal()");
  await db.exec("checkpoint");
  const { rows } = await db.query<{ name: string }>(
    "select pg_walfile_name(pg_current_wal_lsn()) as name",
  );
  await db.close();
  for await (const entry of Deno.readDir(`${dir}/pg_wal`)) {
    if (entry.isFile && entry.name > (rows[0]?.name as string)) {
      await Deno.remove(`${dir}/pg_wal/${entry.name}`);
    }
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return btoa(binary);
}
