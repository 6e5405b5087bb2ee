import assert from "node:assert/strict";
import fc from "fast-check";
import { readFrontmatter } from "./frontmatter.ts";
import { readPlainFrontmatter } from "./plain_frontmatter.ts";

const PLAIN = `name: "acme-audit"
description: "Say: \\"what\\" # was \\\\ recorded – é"
license: Apache-2.0
binds_to:
  - tool: "cyberos.memory.read_audit"
    when: "Always."
  - tool: "cyberos.cuo.route"
    when: "Never: at all"
arguments:
  - name: "actor"
    type: string
    required: false
    limit: 50
triggers:
  - "show the trail"
  - plain words
destructive: true`;

// A comment makes the text one for the parser, and changes nothing else.
const parsed = (source: string) =>
  readFrontmatter(`---\n${source}\n# for the parser\n---\nbody`);

function paths(
  value: unknown,
  path: (string | number)[] = [],
): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  const members = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [
    path,
    ...members.flatMap(([key, item]) => paths(item, [...path, key])),
  ];
}

async function sameAsParser(source: string): Promise<boolean> {
  const plain = readPlainFrontmatter(source);
  if (plain === undefined) return false;
  const slow = await parsed(source);
  assert.deepEqual(slow.faults, [], source);
  assert.deepEqual(plain.value, slow.value, source);
  for (const path of paths(plain.value)) {
    assert.deepEqual(
      plain.positionOf(path),
      slow.positionOf(path),
      `${JSON.stringify(path)} of\n${source}`,
    );
  }
  return true;
}

Deno.test("readPlainFrontmatter() gives values and places as the YAML parser does", async () => {
  assert.ok(await sameAsParser(PLAIN));
  assert.ok(await sameAsParser(PLAIN.replaceAll("\n", "\r\n")));
});

Deno.test("readPlainFrontmatter() leaves everything else to the parser", () => {
  for (
    const source of [
      "",
      "name",
      "name: a: b",
      "name: a # b",
      "name: 'x'",
      'name: "a\\n"',
      'name: "a\\u0041"',
      'name: "a" x',
      "name: null",
      "name: Yes",
      "name: ~",
      "name: 1.5",
      "name: 007",
      "name: -1",
      "name: 1e3",
      "name: [a]",
      "name: {a: b}",
      "name: &a b",
      "name: *a",
      "name: !!str a",
      "name: |\n  text",
      "name: a\nname: b",
      "name:",
      "name:\n",
      "name: a\n  b",
      "list:\n- a",
      "list:\n  - a\n  b: c",
      "list:\n  - a: b\n   c: d",
      "list:\n  - a: b\n    a: c",
      "list:\n  -  a",
      "list:\n   - a",
      "list:\n  - a:",
      "\tname: a",
      "name: a ",
      "name: a\n\nb: c",
      "? a",
      "--- a",
      '"name": a',
      "name: a\u2028b",
      'name: "a\u0085b"',
    ]
  ) assert.equal(readPlainFrontmatter(source), undefined, source);
});

Deno.test("readPlainFrontmatter() reads nothing otherwise than the YAML parser", async () => {
  const scalar = fc.constantFrom(
    '"x y"',
    '"a\\"b"',
    '"\\\\"',
    '"é: #"',
    "true",
    "null",
    "word",
    "two words",
    "12",
    "0",
    "a.b/c",
    "a-b",
    "a - b",
    "a-",
    "-a",
    "x:",
    "x #",
    "'q'",
    "",
    "é",
  );
  const key = fc.constantFrom("a", "b_c", "d-e", "__proto__", "null", "y", "é");
  const indent = fc.constantFrom("", "", "", "  - ", "  - ", "    ", "- ", " ");
  const line = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(indent, key, scalar).map(([i, k, v]) =>
        `${i}${k}: ${v}`
      ),
    },
    { weight: 2, arbitrary: key.map((k) => `${k}:`) },
    { weight: 2, arbitrary: scalar.map((v) => `  - ${v}`) },
  );
  const text = fc.array(line, { minLength: 1, maxLength: 6 })
    .map((lines) => lines.join("\n"));
  let plain = 0;
  await fc.assert(
    fc.asyncProperty(text, async (source) => {
      if (await sameAsParser(source)) plain++;
    }),
    { numRuns: 6000 },
  );
  assert.ok(plain > 50, `${plain} texts were plain`);
});
