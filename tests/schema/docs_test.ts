/** The pages for authors say what the validator does. */
import assert from "node:assert/strict";
import { validateManifest } from "../../schema/validate.ts";

const ROOT = new URL("../../", import.meta.url);

function page(name: string): string {
  return Deno.readTextFileSync(new URL(`docs/${name}`, ROOT));
}

/** Without the faults of tools' arguments, which are no findings. */
function* sources(folder: URL): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder));
    else if (/(?<!_test)\.ts$/.test(name) && name !== "arguments.ts") {
      yield Deno.readTextFileSync(new URL(name, folder));
    }
  }
}

Deno.test("docs/validate.md explains every constraint", () => {
  const names = new Set<string>();
  for (const source of sources(new URL("schema/", ROOT))) {
    for (const [, text] of source.matchAll(/constraint: ([^;]*?),\n/g)) {
      for (const [, name] of (text ?? "").matchAll(/"([a-zA-Z_]+)"/g)) {
        names.add(name ?? "");
      }
    }
    for (const [, name] of source.matchAll(/^ {2}\| "([a-z_]+)"/gm)) {
      if (source.includes("export type FaultName")) names.add(name ?? "");
    }
    for (const [, name] of source.matchAll(/return \[?\s*"([a-z_]+)",/g)) {
      names.add(name ?? "");
    }
  }
  assert.ok(names.size > 50, [...names].sort().join(" "));
  const text = page("validate.md");
  for (const name of names) assert.ok(text.includes(`\`${name}\``), name);
});

Deno.test("the example of docs/manifest.md is valid", async () => {
  const [, example] = /```json\n([\s\S]*?)```/.exec(page("manifest.md")) ?? [];
  const { findings } = await validateManifest(example ?? "");
  assert.deepEqual(
    findings.map(({ constraint }) => constraint),
    ["signature_form", "signature_form"],
  );
});

Deno.test("docs/manifest.md names every member of the contract", () => {
  const schema = JSON.parse(
    Deno.readTextFileSync(new URL("schema/manifest.schema.json", ROOT)),
  );
  const text = page("manifest.md");
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (key === "properties") {
        for (const name of Object.keys(part)) {
          assert.match(text, new RegExp(`[\`.]${name}[\`.]|"${name}"`), name);
        }
      }
      walk(part);
    }
  };
  walk(schema);
});
