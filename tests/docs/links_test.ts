import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function pages(): string[] {
  const below = (folder: string) =>
    [...Deno.readDirSync(`${ROOT}${folder}`)]
      .filter(({ name }) => name.endsWith(".md"))
      .map(({ name }) => join(folder, name));
  return [
    ...below("."),
    ...below("docs"),
    ...below("migrations"),
    ...below("deploy/deno-deploy"),
  ].sort();
}

/** GitHub's way to make an anchor of a heading. */
function anchors(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      (heading as string).toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
        .replaceAll(" ", "-")
    ),
  );
}

function broken(page: string): string[] {
  const text = Deno.readTextFileSync(`${ROOT}${page}`)
    .replaceAll(/```[\s\S]*?```/g, "");
  const faults: string[] = [];
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target as string)) continue;
    const [path, anchor] = (target as string).split("#");
    const file = path === "" ? page : join(dirname(page), path as string);
    try {
      const info = Deno.statSync(`${ROOT}${file}`);
      if (anchor === undefined || !info.isFile) continue;
      if (!anchors(Deno.readTextFileSync(`${ROOT}${file}`)).has(anchor)) {
        faults.push(`${page}: no heading ${target}`);
      }
    } catch {
      faults.push(`${page}: no file ${target}`);
    }
  }
  return faults;
}

for (const page of pages()) {
  Deno.test(`every link within the repository leads somewhere: ${page}`, () => {
    assert.deepEqual(broken(page), []);
  });
}

Deno.test("docs/README.md leads to every page", () => {
  const index = Deno.readTextFileSync(`${ROOT}docs/README.md`);
  const missing = [...Deno.readDirSync(`${ROOT}docs`)]
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .filter((name) => !index.includes(`(${name})`));
  assert.deepEqual(missing, []);
});
