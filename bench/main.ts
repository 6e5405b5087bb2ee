/**
 * `deno task bench [NAME …] [--write]`: every speed claim, as a ratio beside a
 * peer or a floor in the same run.
 */
import type { Bench, Row } from "./row.ts";

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  startup: async () => (await import("./startup_bench.ts")).bench,
  stdio: async () => (await import("./stdio_bench.ts")).bench,
  validate: async () => (await import("./validate_bench.ts")).bench,
  pack: async () => (await import("./pack_bench.ts")).bench,
  doctor: async () => (await import("./doctor_bench.ts")).bench,
  http: async () => (await import("./http_bench.ts")).bench,
  tasks: async () => (await import("./tasks_bench.ts")).bench,
  upstream: async () => (await import("./upstream_bench.ts")).bench,
};

const names = Deno.args.filter((arg) => !arg.startsWith("--"));
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  say(
    `Unknown bench "${unknown.join(", ")}"; there are ${
      Object.keys(BENCHES).join(", ")
    }`,
  );
  Deno.exit(2);
}

const MISSES: readonly string[] = [
  "Spawn to `initialize`, from source: the sandbox's Worker and some 75 modules of ours are loaded, one by one, from TypeScript's cache. The same code answered in three quarters of the time without the Worker, and in five sixths where it was bundled; we keep the sandbox.",
  "stdio, there and back: a bare pipe between two processes alone costs a tenth of the reference server's time, and the two runtimes' reads of a pipe most of the rest. Our own share of a call is 12 to 22 µs.",
  "`pack` beside `zip`: starting Deno and its WASM zlib, whose bytes are the same everywhere, take twice the whole time of `zip`, which is one small native program.",
];

const rows: Row[] = [];
for (const [name, load] of Object.entries(BENCHES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  say(`\n${name}`);
  try {
    const bench = await load();
    await bench((row) => {
      rows.push(row);
      say(line(row));
    });
  } catch (error) {
    say(`  not run: ${error instanceof Error ? error.message : error}`);
  }
}
if (Deno.args.includes("--write")) {
  await Deno.writeTextFile(
    new URL("../docs/performance.md", import.meta.url),
    page(rows),
  );
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

function number(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toPrecision(3);
}

function ratio(row: Row): string {
  return `${(row.ours / row.peer).toFixed(2)}×`;
}

function line(row: Row): string {
  const figures = `${number(row.ours)} ${row.unit} beside ${
    number(row.peer)
  } ${row.unit}`;
  return `  ${row.name}: ${figures} = ${ratio(row)} (aim: ${row.aim})`;
}

function page(all: readonly Row[]): string {
  const cores = navigator.hardwareConcurrency;
  const { deno, v8 } = Deno.version;
  return [
    "# Performance",
    "",
    "<!-- Written by `deno task bench --write`. -->",
    "",
    `Deno ${deno} (V8 ${v8}), ${Deno.build.target}, ${cores} shared cores, ${
      new Date().toISOString().slice(0, 10)
    }.`,
    "Each row is measured beside its peer in the same run; the ratio is what counts, since machines differ.",
    "",
    "| what | ours | peer | unit | ratio | aim |",
    "| --- | ---: | ---: | --- | ---: | --- |",
    ...all.map((row) =>
      `| ${row.name} | ${number(row.ours)} | ${
        number(row.peer)
      } | ${row.unit} | ${ratio(row)} | ${row.aim} |`
    ),
    "",
    "## What misses its aim, and why",
    "",
    ...MISSES.map((miss) => `- ${miss}`),
    "",
  ].join("\n");
}
