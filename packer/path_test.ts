import assert from "node:assert/strict";
import { findCollisions, foldPath, pathFault } from "./path.ts";

Deno.test("pathFault() passes ordinary names, accents and emoji", () => {
  for (
    const path of [
      "plugin.json",
      ".claude-plugin/plugin.json",
      "skills/a/SKILL.md",
      "skills/über/ä b.md",
      "skills/a/👩\u200d💻.md",
      "skills/console/comfort.md",
      "a/…/b",
    ]
  ) assert.equal(pathFault(path), undefined, path);
});

Deno.test("PACK-09 pathFault() refuses what Windows cannot hold", () => {
  for (
    const path of [
      "CON",
      "aux.md",
      "skills/COM1.json",
      "LPT¹",
      "nul .txt",
      "a:b",
      "name.",
      "name ",
      ".. /x",
      "a\\b",
      "a/b\u0000",
      "a\u001b[31m",
      "a?",
      "a".repeat(241),
    ]
  ) assert.notEqual(pathFault(path), undefined, JSON.stringify(path));
  assert.equal(pathFault("a".repeat(240)), undefined);
});

Deno.test("pathFault() refuses every way out of the bundle's root", () => {
  for (
    const path of [
      "",
      "/etc/passwd",
      "../x",
      "a/../../x",
      "./x",
      "a//b",
      "a/",
      "C:/x",
      "..\\x",
      "..",
    ]
  ) assert.notEqual(pathFault(path), undefined, path);
});

Deno.test("PACK-08 pathFault() refuses names that are not NFC or not Unicode", () => {
  assert.equal(pathFault("é.md"), undefined);
  assert.match(pathFault("e\u0301.md") ?? "", /NFC/);
  assert.match(pathFault("\u212b.md") ?? "", /NFC/);
  assert.match(pathFault("a\ud800.md") ?? "", /Unicode/);
  assert.match(pathFault("a\u202egpj.md") ?? "", /invisible/);
});

Deno.test("PACK-09 findCollisions() sees names that some system takes for one", () => {
  const kinds = (...paths: string[]) =>
    findCollisions(paths).map(({ kind }) => kind);
  assert.deepEqual(kinds("a", "b", "a/x".replace("a", "c"), "c/y"), []);
  assert.deepEqual(kinds("README.md", "readme.md"), ["case"]);
  assert.deepEqual(kinds("ß.txt", "ss.txt"), ["case"]);
  assert.deepEqual(kinds("A/x", "a/y"), ["case"]);
  assert.deepEqual(kinds("A/x", "a"), ["file-and-folder"]);
  assert.deepEqual(kinds("a", "a/b"), ["file-and-folder"]);
  assert.deepEqual(kinds("a", "a"), ["duplicate"]);
  assert.deepEqual(kinds("é", "e\u0301"), ["case"]);
});

Deno.test("foldPath() does not depend on the locale", () => {
  assert.equal(foldPath("I"), "i");
  assert.equal(foldPath("STRASSE"), foldPath("straße"));
});
