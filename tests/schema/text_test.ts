/** What a file's text can get wrong, each with its place. */
import assert from "node:assert/strict";
import { validateManifest } from "../../schema/validate.ts";
import { brief, errorsOf, fixture, minimal } from "./support.ts";

const encoder = new TextEncoder();

async function places(source: string | Uint8Array): Promise<string[]> {
  return (await errorsOf(source)).map((finding) =>
    `${finding.line}:${finding.column} ${finding.json_pointer} ${finding.constraint}`
  );
}

Deno.test("VAL-01 a byte order mark is named and only that", async () => {
  const text = fixture("valid_minimal_plugin.json");
  const mark = [0xef, 0xbb, 0xbf];
  const once = new Uint8Array([...mark, ...text]);
  assert.deepEqual(await places(once), ["1:1  byte_order_mark"]);
  const twice = new Uint8Array([...mark, ...mark, ...text]);
  assert.deepEqual(await places(twice), [
    "1:1  byte_order_mark",
    "1:2  byte_order_mark",
  ]);
  const [error] = await errorsOf(once);
  assert.match(error?.hint ?? "", /UTF-8 with BOM/);
  assert.deepEqual(await places(text), []);
});

Deno.test("VAL-01 other encodings are errors that name the byte", async () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]);
  const [little] = await errorsOf(utf16);
  assert.match(little?.message ?? "", /UTF-16LE/);
  const [bare] = await errorsOf(new Uint8Array([0x7b, 0, 0x7d, 0]));
  assert.match(bare?.message ?? "", /UTF-16LE/);
  const [big] = await errorsOf(new Uint8Array([0xfe, 0xff, 0, 0x7b, 0, 0x7d]));
  assert.match(big?.message ?? "", /UTF-16BE/);
  const bytes = encoder.encode(minimal((m) => m.name = "Caf?"));
  const at = bytes.indexOf("?".charCodeAt(0));
  bytes[at] = 0xe9;
  const [latin1, ...others] = await errorsOf(bytes);
  assert.deepEqual(others, []);
  assert.equal(latin1?.constraint, "encoding");
  assert.match(latin1.message, new RegExp(`byte offset ${at}\\b`));
});

Deno.test("VAL-01 a lone surrogate is an error, a pair is not", async () => {
  const lone = minimal().replace('"CyberOS"', '"Cyber\\ud800OS"');
  assert.deepEqual(brief(await errorsOf(lone)), ["/name lone_surrogate"]);
  const inKey = minimal().replace('"name": "CyberOS"', '"\\udc00": "CyberOS"');
  const found = brief(await errorsOf(inKey));
  assert.ok(found.includes(" lone_surrogate"), found.join());
  const pair = minimal().replace('"CyberOS"', '"\\ud83d\\ude00 OS"');
  assert.deepEqual(await errorsOf(pair), []);
});

Deno.test("VAL-02 a duplicate key is an error with both places", async () => {
  const text = '{\n "schema_version": "1.0.0",\n "name": "a",\n' +
    ' "na\\u006de": "b",\n "auth": {"scopes": [], "scopes": ["*"]},\n' +
    ' "__proto__": 1, "__proto__": 2\n}';
  const duplicates = (await errorsOf(text)).filter(({ constraint }) =>
    constraint === "duplicate_key" || constraint === "proto_key"
  );
  assert.deepEqual(brief(duplicates), [
    "/name duplicate_key",
    "/auth/scopes duplicate_key",
    "/__proto__ proto_key",
    "/__proto__ proto_key",
  ]);
  assert.equal(duplicates[0]?.message, "Duplicate key 'name' at 3:2 and 4:2");
  assert.equal(
    duplicates[1]?.message,
    "Duplicate key 'scopes' at 5:11 and 5:25",
  );
});

Deno.test("VAL-02 the first of two duplicate values is judged", async () => {
  const text = minimal().replace(
    '"id": "cyberos"',
    '"id": "cyberos", "id": "NOT AN ID"',
  );
  assert.deepEqual(brief(await errorsOf(text)), ["/id duplicate_key"]);
});

Deno.test("validateManifest() goes on after faults that leave no doubt", async () => {
  const text = minimal()
    .replace("{", "{ // a comment\n")
    .replace('"CyberOS"', "NaN")
    .replace('"claude-code"', '"claude-code",')
    .replace('"id": "cyberos"', '"id": "X"');
  assert.deepEqual(brief(await errorsOf(text)), [
    " comment",
    "/id pattern",
    "/name not_json_value",
    "/targets trailing_comma",
  ]);
});

Deno.test("validateManifest() says nothing about a value it cannot read", async () => {
  for (
    const word of ["NaN", "Infinity", "undefined", "01", "+1", "0x1F", ".5"]
  ) {
    const text = minimal().replace('"1.0.0"', word);
    assert.deepEqual(brief(await errorsOf(text)), [
      "/schema_version not_json_value",
    ], word);
  }
});

Deno.test("validateManifest() stops where the rest is a guess", async () => {
  const broken: Record<string, string> = {
    "": "1:1  end_of_text",
    "{": "1:2  key",
    "{'a': 1}": "1:2  key",
    '{"a" 1}': "1:6 /a colon",
    '{"a": 1 "b": 2}': "1:9  comma",
    '{"a": [1 2]}': "1:10 /a comma",
    '{"a": "x': "1:7 /a unterminated_string",
    '{"a": /x/}': "1:7 /a syntax",
    "startCommand:\n  type: stdio": "1:1  not_json_value",
    '{"a": 1': "1:8  comma",
  };
  for (const [text, place] of Object.entries(broken)) {
    const [first, ...others] = await places(text);
    assert.equal(first, place, text);
    assert.deepEqual(others, [], text);
  }
});

Deno.test("validateManifest() reports raw control characters and unknown escapes", async () => {
  const text = minimal().replace('"CyberOS"', '"Cy\tber\\OS"');
  assert.deepEqual(brief(await errorsOf(text)), [
    "/name control_character",
    "/name escape",
  ]);
});

Deno.test("VAL-08 depth, size and width end in one clear error within a second", async () => {
  const cases: Record<string, [string, string]> = {
    "100,000 nested": ["[".repeat(100_000), "max_depth"],
    "balanced": ["[".repeat(200) + "]".repeat(200), "max_depth"],
    "20 MiB": [`{"a": "${"x".repeat(20 * 1024 * 1024)}"}`, "max_bytes"],
    "a wide array": [
      `{"a": [${"1,".repeat(100_000)}1]}`,
      "max_members",
    ],
    "a wide object": [
      `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join()}}`,
      "max_members",
    ],
  };
  for (const [name, [text, constraint]] of Object.entries(cases)) {
    const start = performance.now();
    const { findings } = await validateManifest(text);
    assert.ok(performance.now() - start < 1000, name);
    assert.deepEqual(
      findings.map((finding) => finding.constraint),
      [constraint],
      name,
    );
  }
});

Deno.test("VAL-08 many unknown keys: a bounded list that says so", async () => {
  const text = minimal((m) => {
    for (let i = 0; i < 5000; i++) m[`unknown_${i}`] = i;
  });
  const report = await validateManifest(text);
  assert.equal(report.findings.length, 200);
  assert.equal(report.truncated, true);
  assert.equal(report.valid, false);
});

Deno.test("VAL-09 numbers are what they mean, and rounded ones are refused", async () => {
  const interval = (token: string) =>
    minimal((m) => m.auth.refresh_interval_seconds = 0)
      .replace(
        '"refresh_interval_seconds": 0',
        `"refresh_interval_seconds": ${token}`,
      );
  for (const token of ["600", "600.0", "6e2", "86400", "9007199254740991"]) {
    assert.deepEqual(await errorsOf(interval(token)), [], token);
  }
  const pointer = "/auth/refresh_interval_seconds";
  const refused: Record<string, string> = {
    "9007199254740993": "number_range",
    "1e400": "number_range",
    "600.0000000000000001": "number_range",
    "600.5": "type",
    "-0": "minimum",
    "599": "minimum",
    '"600"': "type",
    "true": "type",
  };
  for (const [token, constraint] of Object.entries(refused)) {
    const errors = await errorsOf(interval(token));
    assert.ok(
      brief(errors).includes(`${pointer} ${constraint}`),
      `${token}: ${brief(errors)}`,
    );
  }
});

Deno.test("validateManifest() never converts types", async () => {
  const errors = await errorsOf(minimal((m) => {
    m.version = 1.0;
    m.authors = "CyberSkill";
    m.capabilities.read_memory = "true";
    m.tools[0].scopes = "cyberos:cuo:list";
    m.targets = { 0: "claude-code" };
  }));
  assert.deepEqual(brief(errors), [
    "/version type",
    "/authors type",
    "/capabilities/read_memory type",
    "/tools/0/scopes type",
    "/targets type",
  ]);
  for (const { hint } of errors) {
    assert.match(hint, /never converted, per TASK-PLUGIN-001 §1 clause 13$/);
  }
});
