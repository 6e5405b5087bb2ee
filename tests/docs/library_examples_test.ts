/** Programs in the pages import what the published package has, and nothing else. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import * as plugin from "../../mod.ts";
import * as bridge from "../../bridge/mod.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const PACKAGE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "@cyberos/plugin": plugin,
  "@cyberos/plugin/bridge": bridge,
};

function importsOf(text: string): { names: string[]; from: string }[] {
  const blocks = text.match(/^```ts\n[\s\S]*?^```$/gm) ?? [];
  return blocks.flatMap((block) =>
    [...block.matchAll(/^import \{([^}]*)\} from "([^"]*)";$/gm)].map((
      [, names, from],
    ) => ({
      names: names?.split(",").map((name) => name.trim()) ?? [],
      from: from ?? "",
    }))
  );
}

Deno.test("every program in README and docs imports public names only", async () => {
  const docs = [...Deno.readDirSync(`${ROOT}docs`)].map(({ name }) =>
    `docs/${name}`
  );
  let seen = 0;
  for (const page of ["README.md", ...docs].filter((n) => n.endsWith(".md"))) {
    const text = await Deno.readTextFile(`${ROOT}${page}`);
    for (const { names, from } of importsOf(text)) {
      assert.ok(Object.hasOwn(PACKAGE, from), `${page}: ${from}`);
      for (const name of names.filter((name) => name !== "")) {
        assert.equal(
          typeof PACKAGE[from]?.[name],
          "function",
          `${page}: ${name}`,
        );
        seen++;
      }
    }
  }
  assert.ok(seen >= 5, `only ${seen} names were seen`);
});
