/** Imports point one way: a bent arrow fails here, with its name. */
import assert from "node:assert/strict";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

interface ModuleInfo {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly code?: { readonly specifier?: string };
    readonly type?: { readonly specifier?: string };
  }[];
}

/** The room of a file, and the rooms that its files may import. First match wins. */
const ROOMS: readonly (readonly [
  room: string,
  place: RegExp,
  mayImport: readonly string[],
])[] = [
  ["tests", /^(tests|bench|chaos|scripts)\/|_test\.ts$|_bench\.ts$/, ["*"]],
  ["schema", /^schema\//, ["schema"]],
  ["data", /^(manifests|migrations)\//, ["data"]],
  ["bridge domain", /^bridge\/(types|errors|ports)\.ts$/, [
    "schema",
    "bridge domain",
  ]],
  ["bridge calls", /^bridge\/calls\//, [
    "schema",
    "bridge domain",
    "bridge calls",
  ]],
  ["bridge wire", /^bridge\/wire\//, [
    "schema",
    "bridge domain",
    "bridge calls",
    "bridge wire",
  ]],
  ["bridge transports", /^bridge\/transports\//, [
    "schema",
    "bridge domain",
    "bridge calls",
    "bridge wire",
    "bridge transports",
  ]],
  ["bridge auth", /^bridge\/auth\//, [
    "schema",
    "bridge domain",
    "bridge auth",
  ]],
  ["bridge store", /^bridge\/store\//, [
    "schema",
    "data",
    "bridge domain",
    "bridge store",
  ]],
  ["bridge upstream", /^bridge\/upstream\//, [
    "schema",
    "data",
    "bridge domain",
    "bridge upstream",
  ]],
  ["bridge telemetry", /^bridge\/telemetry\//, [
    "schema",
    "bridge domain",
    "bridge telemetry",
  ]],
  ["bridge config", /^bridge\/config\//, [
    "schema",
    "bridge domain",
    "bridge config",
    "bridge telemetry",
    // For the reader of connection URLs, which has no arrows of its own.
    "bridge store",
  ]],
  ["bridge program", /^bridge\//, ["schema", "data", "bridge *"]],
  ["packer domain", /^packer\/(types|errors|ports)\.ts$/, [
    "schema",
    "packer domain",
  ]],
  ["packer", /^packer\//, ["schema", "data", "packer", "packer domain"]],
  ["front doors", /^(mod|cli)\.ts$/, [
    "schema",
    "packer",
    "packer domain",
    "front doors",
  ]],
  ["deploy", /^deploy\//, ["schema", "bridge *", "deploy"]],
];

function roomOf(path: string): readonly [string, RegExp, readonly string[]] {
  const room = ROOMS.find(([, place]) => place.test(path));
  assert.ok(
    room !== undefined,
    `"${path}" is in no room: name one in ${import.meta.filename}`,
  );
  return room;
}

function allows(mayImport: readonly string[], room: string): boolean {
  return mayImport.some((name) =>
    name === "*" || name === room ||
    (name.endsWith("*") && room.startsWith(name.slice(0, -1)))
  );
}

/** What is wrong with the arrow from one file to another, if anything. */
function fault(from: string, to: string): string | undefined {
  const [room, , mayImport] = roomOf(from);
  const [target] = roomOf(to);
  return allows(mayImport, target)
    ? undefined
    : `${from} (${room}) imports ${to} (${target})`;
}

async function sourceFiles(dir = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(`${ROOT}${dir}`)) {
    const path = `${dir}${entry.name}`;
    if (entry.isDirectory && !/^(\.|node_modules|dist)/.test(entry.name)) {
      found.push(...await sourceFiles(`${path}/`));
    } else if (entry.isFile && /\.tsx?$/.test(entry.name)) found.push(path);
  }
  return found;
}

async function arrows(file: string): Promise<string[]> {
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-lock", file],
    cwd: ROOT,
    stdout: "piped",
    stderr: "null",
  }).output();
  const graph = JSON.parse(new TextDecoder().decode(output.stdout)) as {
    readonly modules: readonly ModuleInfo[];
  };
  const pairs: string[] = [];
  for (const module of graph.modules) {
    for (const dependency of module.dependencies ?? []) {
      for (
        const target of [dependency.code?.specifier, dependency.type?.specifier]
      ) {
        if (
          target?.startsWith("file:") && module.specifier.startsWith("file:")
        ) {
          pairs.push(`${place(module.specifier)} ${place(target)}`);
        }
      }
    }
  }
  return pairs;
}

function place(specifier: string): string {
  return relative(ROOT, fileURLToPath(specifier));
}

Deno.test("imports point one way through the house", async () => {
  const files = (await sourceFiles()).filter((file) =>
    roomOf(file)[0] !== "tests"
  );
  // Doors reach nearly everything; what no door reaches is asked about on its own.
  const doors = files.filter((file) => /(^|\/)(mod|main|cli)\.ts$/.test(file));
  const seen = new Set((await Promise.all(doors.map(arrows))).flat());
  const reached = new Set([...seen].flatMap((pair) => pair.split(" ")));
  for (
    const file of files.filter((name) =>
      !reached.has(name) && !doors.includes(name)
    )
  ) {
    for (const pair of await arrows(file)) seen.add(pair);
  }
  assert.ok(
    seen.size > 20,
    "the import graph is nearly empty: this test sees nothing",
  );
  const faults = [...seen].map((pair) =>
    fault(...pair.split(" ") as [string, string])
  )
    .filter((text) => text !== undefined);
  assert.deepEqual(faults, []);
});

Deno.test("the import rule itself refuses bent arrows", () => {
  assert.match(
    fault("bridge/store/a.ts", "bridge/upstream/b.ts") ?? "",
    /imports/,
  );
  assert.match(fault("bridge/calls/a.ts", "packer/pack.ts") ?? "", /imports/);
  assert.match(fault("schema/mod.ts", "bridge/types.ts") ?? "", /imports/);
  assert.match(fault("packer/pack.ts", "tests/support/x.ts") ?? "", /imports/);
  assert.equal(
    fault("bridge/transports/stdio.ts", "bridge/wire/protocol.ts"),
    undefined,
  );
  assert.equal(fault("bridge/main.ts", "bridge/store/mod.ts"), undefined);
});
