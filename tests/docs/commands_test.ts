import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { copyOfRepository } from "./copy.ts";
import { runPage } from "./run_pages.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function pages(): string[] {
  const docs = [...Deno.readDirSync(`${ROOT}docs`)]
    .map(({ name }) => `docs/${name}`);
  return ["README.md", "CONTRIBUTING.md", ...docs.sort()]
    .filter((name) => name.endsWith(".md"));
}

Deno.test(
  "every command of README and docs works as written, in a fresh copy",
  {
    ignore: Deno.build.os === "windows",
  },
  async (t) => {
    await using copy = await copyOfRepository(ROOT);
    for (const page of pages()) {
      await t.step(page, async () => {
        const outcomes = await runPage(
          `${copy.dir}/${page}`,
          copy.dir,
          copy.env,
        );
        const failed = outcomes.filter(({ code }) =>
          code !== undefined && code !== 0
        );
        assert.deepEqual(
          failed.map(({ command, code, output }) =>
            `${page}:${command.line}: ${command.text} exits ${code}: ${output}`
          ),
          [],
        );
      });
    }
  },
);
