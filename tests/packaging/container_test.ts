import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { WITHOUT_POSTGRES, withPostgres } from "../support/postgres.ts";
import { freePort } from "../support/postgres_cluster.ts";
import { postgresPrograms } from "../support/postgres.ts";
import { compiled, NO_COMPILE_RUNTIME } from "./compiled.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** As in the image: a tree that cannot be written, an ordinary user, no capability, no new privilege. */
const CONFINED = [
  "unshare",
  "--mount",
  "sh",
  "-c",
  `mount --rbind / / && mount -o remount,ro,bind / && mount -o ro,bind "$TREE" "$TREE" &&
   ! touch "$TREE/probe" 2>/dev/null && cd "$TREE" &&
   exec setpriv --reuid=65532 --regid=65532 --clear-groups --no-new-privs \
     --inh-caps=-all --bounding-set=-all env --ignore-environment "$@"`,
  "sh",
];

async function confined(
  tree: string,
  env: Readonly<Record<string, string>>,
  command: readonly string[],
): Promise<Deno.ChildProcess> {
  const [program, ...args] = [
    ...CONFINED,
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...command,
  ];
  return await Promise.resolve(
    new Deno.Command(program as string, {
      args,
      env: { TREE: tree },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
}

async function canConfine(): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  try {
    const child = await confined("/usr", {}, ["true"]);
    return (await child.output()).success;
  } catch {
    return false;
  }
}

/** ENV, ENTRYPOINT and health check, as the Containerfile has them. */
function image(): { env: Record<string, string>; health: string[] } {
  const text = Deno.readTextFileSync(
    `${ROOT}deploy/container/Containerfile`,
  ).replaceAll("\\\n", " ");
  const words = /^ENV (.*)$/m.exec(text)?.[1]?.trim().split(/\s+/) ?? [];
  return {
    env: Object.fromEntries(words.map((word) => word.split("="))),
    health: JSON.parse(/CMD (\[.*\])/.exec(text)?.[1] ?? "[]").slice(1),
  };
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test(
  "the container's commands run: migrate, login.sh, the bridge, its health check, its end",
  {
    ignore: NO_COMPILE_RUNTIME || WITHOUT_POSTGRES || !await canConfine(),
  },
  () =>
    withPostgres(async (database) => {
      await using built = await compiled();
      // The temporary folder's parents are the tester's own alone.
      await Deno.chmod(built.dir, 0o755);
      await Deno.chmod(built.dir.replace(/\/[^/]*$/, ""), 0o755);
      const program = `${built.dir}/cyberos-mcp-bridge`;
      const { env, health } = image();
      const migrated = await (await confined(built.dir, {
        ...env,
        CYBEROS_TRANSPORT: "stdio",
        CYBEROS_OWNER_DATABASE_URL: database.ownerUrl,
      }, [program, "migrate"])).output();
      assert.equal(migrated.code, 0, text(migrated.stderr));

      const owner = new URL(database.ownerUrl);
      const login = await new Deno.Command("sh", {
        args: [`${ROOT}deploy/login.sh`],
        clearEnv: true,
        env: {
          PATH: `${postgresPrograms()}:/usr/bin:/bin`,
          PGHOST: owner.hostname,
          PGPORT: owner.port,
          PGDATABASE: database.name,
          PGUSER: owner.username,
          CYBEROS_BRIDGE_PASSWORD: "secret1",
        },
      }).output();
      assert.equal(login.code, 0, text(login.stderr));
      const sql = postgres(database.url("cyberos_app"), { max: 1 });
      const [role] = await sql`select rolsuper or rolbypassrls as strong
      from pg_roles where rolname = current_user`;
      await sql.end();
      assert.equal(role?.strong, false);

      const server = {
        ...env,
        CYBEROS_LISTEN: `0.0.0.0:${freePort()}`,
        CYBEROS_DATABASE_URL: database.url("cyberos_app"),
        CYBEROS_RESOURCE_URL: "https://mcp.example.com/mcp",
        CUO_ENDPOINT: "http://127.0.0.1:9",
        SKILL_BROKER_ENDPOINT: "http://127.0.0.1:9",
      };
      const bridge = await confined(built.dir, server, [program]);
      try {
        let lives = false;
        for (let n = 0; n < 50 && !lives; n++) {
          const asked = await confined(built.dir, server, [program, ...health]);
          lives = (await asked.output()).code === 0;
        }
        assert.ok(lives, "the health check succeeds");
      } finally {
        bridge.kill("SIGTERM");
      }
      const { code, stderr } = await bridge.output();
      assert.equal(code, 0, text(stderr));
    }, { empty: true }),
);
