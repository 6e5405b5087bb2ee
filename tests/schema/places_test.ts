/** Pointers and places. */
import assert from "node:assert/strict";
import {
  fromPointer,
  resolvePointer,
  toPointer,
} from "../../schema/json_pointer.ts";
import { validateManifest } from "../../schema/validate.ts";
import { brief, errorsOf, minimal, warningsOf } from "./support.ts";

Deno.test("VAL-10 pointers are escaped, decoded and lead back", async () => {
  const keys = ["a/b", "m~n", "", "x y", "é", "0", "%20", "#", "a~1b", "日本"];
  const text = minimal((m) => {
    for (const key of keys) m[key] = 1;
  });
  const value = JSON.parse(text);
  const errors = await errorsOf(text);
  const pointers = errors.map(({ json_pointer }) => json_pointer);
  // JavaScript puts keys that are numbers first.
  assert.deepEqual([...pointers].sort(), [
    "/",
    "/#",
    "/%20",
    "/0",
    "/a~01b",
    "/a~1b",
    "/m~0n",
    "/x y",
    "/é",
    "/日本",
  ]);
  for (const pointer of pointers) {
    assert.equal(resolvePointer(value, pointer), 1, pointer);
    assert.equal(toPointer(fromPointer(pointer) ?? []), pointer);
  }
});

Deno.test("VAL-10 one missing and one unknown property are exactly two findings", async () => {
  const errors = await errorsOf(minimal((m) => {
    delete m.tools[0].description;
    m.tools[0].descripton = "x".repeat(40);
  }));
  assert.deepEqual(brief(errors), [
    "/tools/0/description required",
    "/tools/0/descripton additionalProperties",
  ]);
  assert.match(errors[1]?.message ?? "", /did you mean 'description'\?$/);
});

Deno.test("findings come in the order of the document", async () => {
  const { findings } = await validateManifest(minimal((m) => {
    m.signature.extra = 1;
    m.targets = ["emacs"];
    m.audit.endpoint = "http://example.com";
    m.license = "WTF-1";
    m.id = "A";
    m.tools[0].name = "x";
    delete m.name;
  }));
  const offsets = findings.map(({ line, column }) => line * 1000 + column);
  assert.deepEqual(offsets, offsets.toSorted((a, b) => a - b));
  assert.deepEqual(
    brief(findings.filter(({ severity }) => severity === "error")),
    [
      "/name required",
      "/id pattern",
      "/license spdx",
      "/tools/0/name pattern",
      "/audit/endpoint https",
      "/targets/0 enum",
      "/signature/extra additionalProperties",
    ],
  );
});

Deno.test("a finding names line, column and the line itself", async () => {
  const text = '{\r\n  "schema_version": "1.0.0",\r\n\t"id": "Ä", "x": 1\r\n}';
  const errors = await errorsOf(text);
  const id = errors.find(({ json_pointer }) => json_pointer === "/id");
  assert.deepEqual(
    [id?.line, id?.column, id?.excerpt],
    [3, 8, '\t"id": "Ä", "x": 1'],
  );
  const unknown = errors.find(({ json_pointer }) => json_pointer === "/x");
  assert.deepEqual([unknown?.line, unknown?.column], [3, 13]);
  const missing = errors.find(({ json_pointer }) => json_pointer === "/tools");
  assert.deepEqual([missing?.line, missing?.column], [1, 1]);
});

Deno.test("one fault gives one finding", async () => {
  const changes: [(m: Record<string, unknown>) => void, string][] = [
    [(m) => m.description = 5, "/description type"],
    [(m) => m.description = "", "/description minLength"],
    [(m) => m.description = "x".repeat(481), "/description maxLength"],
    [(m) => m.name = "x".repeat(81), "/name maxLength"],
    [(m) => m.authors = [], "/authors minItems"],
    [(m) => m.authors = [{}], "/authors/0/name required"],
    [(m) => m.authors = [5], "/authors/0 type"],
    [(m) => m.tools = [], "/tools minItems"],
    [(m) => m.license = "", "/license minLength"],
    [(m) => m.capabilities = null, "/capabilities type"],
    [
      (m) => m.marketplace = { price_usd_per_month: -1 },
      "/marketplace/price_usd_per_month minimum",
    ],
    [
      (m) => m.marketplace = { revenue_share_percent: 101 },
      "/marketplace/revenue_share_percent maximum",
    ],
    [
      (m) => m.marketplace = { visibility: "hidden" },
      "/marketplace/visibility enum",
    ],
    [
      (m) => m.commands = [{ name: "x", file: "commands/x.md" }],
      "/commands/0/name pattern",
    ],
    [
      (m) => m.commands = [{ name: "/xy", file: "../xy.md" }],
      "/commands/0/file pattern",
    ],
    [
      (m) => m.skills = [{ id: "x", path: "skills/x/skill.md" }],
      "/skills/0/path pattern",
    ],
    [
      (m) => m.targets = ["claude-code", "claude-code"],
      "/targets/1 uniqueItems",
    ],
  ];
  for (const [change, expected] of changes) {
    assert.deepEqual(brief(await errorsOf(minimal(change))), [expected]);
  }
});

Deno.test("members that the contract leaves open are warned of", async () => {
  const text = minimal((m) => {
    m.authors[0].mail = "a@b.de";
    m.tools[0].annotations = { readOnlyHint: true };
    m.commands = [{ name: "/xy", file: "commands/xy.md", descripton: "x" }];
  });
  assert.deepEqual(await errorsOf(text), []);
  const warnings = (await warningsOf(text)).filter(({ constraint }) =>
    constraint === "unknown_member"
  );
  assert.deepEqual(brief(warnings), [
    "/authors/0/mail unknown_member",
    "/tools/0/annotations/readOnlyHint unknown_member",
    "/commands/0/descripton unknown_member",
  ]);
  assert.match(warnings[0]?.message ?? "", /did you mean 'email'\?/);
});
