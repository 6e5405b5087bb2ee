/** `cyberos-plugin validate` as its users call it. */
import assert from "node:assert/strict";
import { cli, manifestPath } from "./terminal.ts";

const MINIMAL = manifestPath("valid_minimal_plugin.json");
const UNSIGNED = manifestPath("invalid_missing_signature.json");
const TWO_ERRORS = manifestPath("invalid_tool_name_and_rekor.json");

// deno-lint-ignore no-control-regex
const ESCAPE = /\x1b/;
// deno-lint-ignore no-control-regex
const RED_ERROR = /\x1b\[31;1merror\x1b\[0m/;

Deno.test("P1-AC21 validate exits 1 and prints the error on stderr", async () => {
  const run = await cli(["validate", UNSIGNED]);
  assert.equal(run.code, 1);
  assert.equal(run.stdout, "");
  assert.match(run.stderr, /\/: required property 'signature' missing/);
  const good = await cli(["validate", MINIMAL]);
  assert.equal(good.code, 0);
  assert.match(
    good.stderr,
    /valid_minimal_plugin\.json: valid \(1 tool, 0 commands, 0 skills\)/,
  );
});

Deno.test("P1-AC23 text names pointer, place, line, hint", async () => {
  const { stderr } = await cli(["validate", TWO_ERRORS]);
  const [place, message, line, mark, hint] = stderr.split("\n").slice(
    stderr.split("\n").findIndex((text) => text.includes("/tools/0/name")),
  );
  assert.match(
    place ?? "",
    /_rekor\.json:21:15 error \/tools\/0\/name \(pattern\)$/,
  );
  assert.equal(
    message,
    "  Tool name 'execute_workflow' must follow SEP-986: 'cyberos.{module}.{verb}_{noun}'",
  );
  assert.equal(line, '  21 |       "name": "execute_workflow",');
  assert.equal((mark ?? "").indexOf("^"), (line ?? "").indexOf('"execute'));
  assert.match(hint ?? "", /^ {2}hint: .*clause 6$/);
  assert.match(stderr, /\n2 errors, \d warnings\n$/);
});

Deno.test("validate --json prints exactly the specification's shape", async () => {
  const run = await cli(["validate", TWO_ERRORS, "--json", "--root", "."]);
  assert.equal(run.code, 1);
  assert.equal(run.stderr, "");
  const { errors, warnings } = JSON.parse(run.stdout);
  assert.deepEqual(Object.keys(errors[0]), [
    "json_pointer",
    "constraint",
    "expected",
    "actual",
    "message",
    "hint",
  ]);
  assert.equal(errors[1].json_pointer, "/signature/rekor_uuid");
  assert.ok(warnings.length > 0);
  const complete = await cli([
    "validate",
    "--format",
    "json",
    "-",
  ], {
    stdin: await Deno.readFile(manifestPath("valid_complete_plugin.json")),
  });
  assert.deepEqual(JSON.parse(complete.stdout), { errors: [] });
  assert.equal(complete.code, 0);
});

Deno.test("validate --strict makes warnings fail", async () => {
  assert.equal((await cli(["validate", MINIMAL])).code, 0);
  const strict = await cli(["validate", "--strict", MINIMAL]);
  assert.equal(strict.code, 1);
  assert.match(strict.stderr, /error \/signature\/rekor_uuid/);
  const json = await cli(["validate", "--strict", "--json", MINIMAL]);
  assert.equal(JSON.parse(json.stdout).warnings, undefined);
});

Deno.test("validate takes several files and reports each", async () => {
  const run = await cli(["validate", MINIMAL, UNSIGNED, "nowhere.json"]);
  assert.equal(run.code, 1);
  assert.match(run.stderr, /valid_minimal_plugin\.json: valid/);
  assert.match(
    run.stderr,
    /Cannot read "nowhere\.json": there is no such file/,
  );
  assert.match(run.stderr, /2 errors, \d+ warnings in 3 files/);
  const json = await cli(["validate", MINIMAL, UNSIGNED, "--json"]);
  const { files } = JSON.parse(json.stdout);
  assert.deepEqual(
    files.map((file: { file: string; errors: unknown[] }) => [
      file.file,
      file.errors.length,
    ]),
    [[MINIMAL, 0], [UNSIGNED, 1]],
  );
});

Deno.test("validate expands patterns that the shell left", async () => {
  const folder = manifestPath("");
  const json = await cli(["validate", `${folder}invalid_*.json`, "--json"]);
  const { files } = JSON.parse(json.stdout);
  assert.equal(files.length, 3);
  const deep = await cli([
    "validate",
    `${folder.replace(/manifests\/$/, "")}**/claude_code_plugin*.json`,
    "--json",
  ]);
  assert.equal(JSON.parse(deep.stdout).files.length, 2);
  const hidden = await Deno.makeTempDir({ prefix: "." });
  const inHidden = hidden.replace(/\/[^/]*$/, "/*/*.hidden");
  await Deno.writeTextFile(`${hidden}/a.hidden`, "{}");
  assert.equal((await cli(["validate", inHidden])).code, 2);
  const named = `${hidden.replace(/[^/]*$/, "")}.*/*.hidden`;
  assert.equal((await cli(["validate", named])).code, 1);
  await Deno.remove(hidden, { recursive: true });
  const none = await cli(["validate", `${folder}*.none`]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /No file matches/);
});

Deno.test("validate reads standard input as -", async () => {
  const stdin = await Deno.readFile(MINIMAL);
  const run = await cli(["validate", "-"], { stdin });
  assert.equal(run.code, 0);
  assert.match(run.stderr, /<stdin>: valid/);
  const empty = await cli(["validate", "-"]);
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /The file ends where a value should be/);
});

Deno.test("validate looks beside the manifest for what it declares, or under --root", async () => {
  const complete = manifestPath("valid_complete_plugin.json");
  const beside = await cli(["validate", complete]);
  assert.equal(beside.code, 1);
  assert.match(
    beside.stderr,
    /The file 'commands\/acme-deals\.md' does not exist/,
  );
  const stdin = await Deno.readFile(complete);
  const nowhere = await cli(["validate", "-"], { stdin });
  assert.equal(nowhere.code, 0);
  assert.match(nowhere.stderr, /declared files were not checked/);
  const elsewhere = await cli(["validate", "-", "--root", "."], { stdin });
  assert.equal(elsewhere.code, 1);
});

Deno.test("validate says where in a declared file a fault is", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/commands`);
    await Deno.mkdir(`${folder}/skills/acme-visit-report`, { recursive: true });
    await Deno.copyFile(
      manifestPath("valid_complete_plugin.json"),
      `${folder}/acme.json`,
    );
    await Deno.writeTextFile(
      `${folder}/commands/acme-deals.md`,
      "---\na: b: c\n---\n",
    );
    await Deno.symlink(MINIMAL, `${folder}/skills/acme-visit-report/SKILL.md`);
    const run = await cli(["validate", `${folder}/acme.json`]);
    assert.equal(run.code, 1);
    assert.match(
      run.stderr,
      /\/commands\/acme-deals\.md:2:4 error \/commands\/0\/file \(frontmatter\)\n.*\n {2}2 \| a: b: c\n/,
    );
    assert.match(run.stderr, /SKILL\.md' is a symbolic link, not a file/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("validate exits 2 for wrong usage", async () => {
  for (
    const args of [
      [],
      ["--format", "xml", MINIMAL],
      ["--json", "--format", "sarif", MINIMAL],
      ["--unknown", MINIMAL],
      ["--json"],
      ["--root", "/nowhere", MINIMAL],
      ["--root", MINIMAL, MINIMAL],
    ]
  ) {
    const run = await cli(["validate", ...args]);
    assert.equal(run.code, 2, args.join(" "));
    assert.match(run.stderr, /See: cyberos-plugin validate --help/);
    assert.equal(run.stdout, "");
  }
  const help = await cli(["validate", "--help"]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^cyberos-plugin validate: /);
});

Deno.test("validate names what it cannot read", async () => {
  const folder = await cli(["validate", manifestPath("")]);
  assert.equal(folder.code, 1);
  assert.match(
    folder.stderr,
    /Cannot read ".*": it is a folder|reading it failed/,
  );
});

Deno.test("validate paints only where the terminal shows colours", async () => {
  const plain = await cli(["validate", UNSIGNED]);
  assert.doesNotMatch(plain.stderr, ESCAPE);
  const painted = await cli(["validate", UNSIGNED], { color: true });
  assert.match(painted.stderr, RED_ERROR);
  const json = await cli(["validate", UNSIGNED, "--json"], { color: true });
  assert.doesNotMatch(json.stdout, ESCAPE);
});

Deno.test("a hostile manifest cannot steer the terminal", async () => {
  const text = (await Deno.readTextFile(MINIMAL))
    .replace('"cyberos"', '"\\u001b]0;owned\\u0007\u202e"')
    .replace('"CyberOS"', '"Cyber\u202eOS", "\\u001b[2J": 1');
  const run = await cli(["validate", "-"], {
    stdin: new TextEncoder().encode(text),
  });
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(run.stderr, /[\x1b\x07\u202e]/);
  assert.match(run.stderr, /\\u001b/);
  for (const format of ["json", "sarif", "github"]) {
    const { stdout } = await cli(["validate", "-", "--format", format], {
      stdin: new TextEncoder().encode(text.replace("owned", "\u{9b}31m")),
    });
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(stdout, /[\x1b\x07\x9b\u202e]/, format);
    assert.match(stdout, /\\u202e/, format);
  }
});

Deno.test("validate --format github prints annotations", async () => {
  const run = await cli(["validate", "--format", "github", TWO_ERRORS]);
  assert.equal(run.code, 1);
  const lines = run.stdout.trimEnd().split("\n");
  const name = lines.find((line) => line.includes("/tools/0/name")) ?? "";
  assert.match(
    name,
    /^::error file=[^,]+,line=21,col=15,title=\/tools\/0\/name \(pattern\)::Tool name .*%0A.*clause 6$/,
  );
  assert.ok(lines.every((line) => /^::(error|warning) file=/.test(line)));
  const odd = await cli(["validate", "--format", "github", "-"], {
    stdin: new TextEncoder().encode('{"a,b:c\\n%": 1, "id": 5, "tools": []}'),
  });
  assert.match(odd.stdout, /title=\/a%2Cb%3Ac%0A%25 /);
});

Deno.test("validate --format sarif prints a log that code scanning takes", async () => {
  const run = await cli(["validate", "--format", "sarif", TWO_ERRORS, MINIMAL]);
  assert.equal(run.code, 1);
  const log = JSON.parse(run.stdout);
  assert.equal(log.version, "2.1.0");
  const [{ tool, results, columnKind }] = log.runs;
  assert.equal(columnKind, "utf16CodeUnits");
  for (const result of results) {
    assert.equal(tool.driver.rules[result.ruleIndex].id, result.ruleId);
    assert.ok(["error", "warning"].includes(result.level));
    const [{ physicalLocation, logicalLocations }] = result.locations;
    assert.match(physicalLocation.artifactLocation.uri, /\.json$/);
    assert.ok(physicalLocation.region.startLine >= 1);
    assert.equal(typeof logicalLocations[0].fullyQualifiedName, "string");
  }
  assert.ok(
    results.some((result: { ruleId: string }) => result.ruleId === "pattern"),
  );
});
