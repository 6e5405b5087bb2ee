import assert from "node:assert/strict";
import { frontmatterKeys } from "./frontmatter.ts";

function keys(frontmatter: string): readonly string[] | string {
  const read = frontmatterKeys(`---\n${frontmatter}\n---\n\nText.\n`);
  return "keys" in read ? read.keys : "fault";
}

Deno.test("frontmatterKeys() lists plain keys, whatever lies under them", () => {
  assert.deepEqual(keys('name: "x"\ndescription: a: b'), [
    "name",
    "description",
  ]);
  assert.deepEqual(keys("list:\n  - hooks: x\n  - y\nnext: 1"), [
    "list",
    "next",
  ]);
  assert.deepEqual(keys("list:\n- hooks: x\nnext: 1"), ["list", "next"]);
  assert.deepEqual(keys('"allowed-tools": Bash'), ["allowed-tools"]);
  assert.deepEqual(keys("text: |\n  hooks: x\n# comment\n\nend:"), [
    "text",
    "end",
  ]);
});

Deno.test("frontmatterKeys() reads none where there is no frontmatter", () => {
  assert.deepEqual(frontmatterKeys("# Title\n\n---\nhooks: x\n---\n"), {
    keys: [],
  });
  assert.deepEqual(frontmatterKeys(""), { keys: [] });
});

Deno.test("frontmatterKeys() sees keys in every line end", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = ["---", "name: x", "hooks: y", "---", ""].join(end);
    assert.deepEqual(frontmatterKeys(text), { keys: ["name", "hooks"] });
  }
});

Deno.test("frontmatterKeys() refuses what parsers may read differently", () => {
  for (
    const text of [
      "{name: x, hooks: y}",
      "? hooks\n: x",
      '"hoo\\x6bs": x',
      "'hooks': x",
      "  hooks: x\n  name: y",
      "<<: *base",
      "&a hooks: x",
      "!!str hooks: x",
      "hooks : x",
      "hooks:x",
      "name: x\n\thooks: y",
      "name: x\u0085hooks: y",
      "name: x\u2028hooks: y",
      "%YAML 1.1",
      "name: x\n...\nhooks: y",
      "name: x\n--- \nhooks: y\nmore: z",
      "плюс: x",
    ]
  ) assert.equal(keys(text), "fault", text);
});

Deno.test("frontmatterKeys() refuses frontmatter that does not end, or starts oddly", () => {
  assert.ok("fault" in frontmatterKeys("---\nname: x\n"));
  assert.ok("fault" in frontmatterKeys("--- #\nname: x\n---\n"));
  assert.ok("fault" in frontmatterKeys("---\nname: x\n---- \n"));
  assert.deepEqual(frontmatterKeys("\n\n---\nhooks: x\n---\n"), {
    keys: ["hooks"],
  });
});
