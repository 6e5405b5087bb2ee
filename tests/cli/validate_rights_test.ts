/** Validating needs nothing but reading, and loads nothing it does not need. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { manifestPath } from "./terminal.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));
const SHIPPED = fileURLToPath(
  new URL("../../manifests/cyberos@1.0.0.plugin.json", import.meta.url),
);

async function run(
  rights: readonly string[],
  args: readonly string[],
  stdin?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--cached-only", ...rights, CLI, ...args],
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

Deno.test("validate runs with --allow-read alone, commands and skills included", async () => {
  const shipped = await run(["--allow-read"], ["validate", SHIPPED]);
  assert.equal(shipped.code, 0, shipped.stderr);
  assert.match(shipped.stderr, /valid \(8 tools, 4 commands, 12 skills\)/);
  const broken = await run(["--allow-read"], [
    "validate",
    "--json",
    manifestPath("invalid_missing_signature.json"),
  ]);
  assert.equal(broken.code, 1, broken.stderr);
  assert.equal(JSON.parse(broken.stdout).errors.length, 1);
  const licence = await run([], ["validate", "-"], '{"license": "Odd-1.0"}');
  assert.equal(licence.code, 1);
  assert.match(licence.stderr, /error \/license \(spdx\)/);
});

Deno.test("validate reads frontmatter of every kind with --allow-read alone", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const manifest = `${folder}/acme.json`;
    await Deno.copyFile(manifestPath("valid_complete_plugin.json"), manifest);
    await Deno.mkdir(`${folder}/commands`);
    await Deno.mkdir(`${folder}/skills/acme-visit-report`, { recursive: true });
    const text =
      "---\nname: 'quoted'\ndescription: >-\n  folded\n  text\n---\n";
    await Deno.writeTextFile(`${folder}/commands/acme-deals.md`, text);
    await Deno.writeTextFile(
      `${folder}/skills/acme-visit-report/SKILL.md`,
      text,
    );
    const { code, stdout, stderr } = await run(["--allow-read"], [
      "validate",
      "--json",
      manifest,
    ]);
    assert.equal(code, 1, stderr);
    assert.match(stdout, /The description has 11 characters/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("validate without the right to read says so", async () => {
  const { code, stderr } = await run([], ["validate", SHIPPED]);
  assert.equal(code, 1);
  assert.match(stderr, /Cannot read ".*": reading it is not permitted/);
  assert.doesNotMatch(stderr, /\s+at /);
});

Deno.test("schema and --help need no right at all", async () => {
  assert.equal((await run([], ["schema"])).code, 0);
  assert.equal((await run([], ["validate", "--help"])).code, 0);
});

interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

Deno.test("validate imports only what validating needs", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "info",
      "--json",
      fileURLToPath(
        new URL("../../packer/commands/validate.ts", import.meta.url),
      ),
    ],
  }).output();
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const all = graph.modules.map(({ specifier }) => specifier);
  const foreign = all.filter((specifier) => !specifier.startsWith("file:"));
  const allowed = [
    /@cfworker\/json-schema@/,
    /spdx-expression-parse@/,
    /\/yaml@/,
    /^node:(util|process)$/,
  ];
  for (const specifier of foreign) {
    assert.ok(allowed.some((name) => name.test(specifier)), specifier);
  }
  for (const specifier of all.filter((name) => name.startsWith("file:"))) {
    assert.match(
      specifier,
      /\/(schema\/|packer\/commands\/(validate|command)\.ts|packer\/(validate_report\/|display\.ts))/,
    );
  }
  assert.deepEqual(
    eagerly(graph).filter((name) => !name.startsWith("file:")),
    [],
  );
});

/** What is loaded before the first line runs. */
function eagerly(graph: Graph): string[] {
  const modules = new Map(
    graph.modules.map((module) => [module.specifier, module]),
  );
  const loaded = new Set<string>();
  const load = (specifier: string): void => {
    if (loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const dependency of modules.get(specifier)?.dependencies ?? []) {
      const target = dependency.code?.specifier;
      if (target !== undefined && !dependency.isDynamic) load(target);
    }
  };
  const root = [...modules.keys()].find((specifier) =>
    specifier.endsWith("/packer/commands/validate.ts")
  );
  assert.ok(root !== undefined);
  load(root);
  return [...loaded];
}
