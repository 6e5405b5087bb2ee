/** Versions. */
import assert from "node:assert/strict";
import fc from "fast-check";
import semver from "semver";
import { compareVersions, parseVersion } from "../../schema/semver.ts";
import { brief, errorsOf, minimal } from "./support.ts";

const VALID = [
  "1.0.0",
  "0.0.0",
  "1.2.3-0a",
  "1.2.3+001",
  "1.0.0-beta.1",
  "1.0.0+sha.abc123",
  "1.0.0-alpha.1+build.5",
  "1.0.0--",
  "99999999999999999999.0.0",
];

const INVALID = [
  "1.0",
  "v1.0.0",
  "01.2.3",
  "1.2.3-01",
  "1.2.3+",
  "1.2.3-",
  "1.2.3+a+b",
  "1.2.3-a..b",
  " 1.2.3",
  "1.2.3 ",
  "1.2.3\n",
  "1.2.3-α",
  "1.2.3.4",
  "=1.2.3",
  "",
  `1.2.3-${"a".repeat(300)}`,
];

Deno.test("VAL-04 only SemVer 2.0 passes, at /version", async () => {
  for (const version of VALID) {
    assert.deepEqual(
      await errorsOf(minimal((m) => m.version = version)),
      [],
      version,
    );
  }
  for (const version of INVALID) {
    const errors = await errorsOf(minimal((m) => m.version = version));
    assert.deepEqual(
      errors.map(({ json_pointer }) => json_pointer),
      ["/version"],
      version,
    );
  }
  const number = minimal().replace('"version": "1.0.0"', '"version": 1.0');
  assert.deepEqual(brief(await errorsOf(number)), ["/version type"]);
});

Deno.test("parseVersion() and the schema's pattern agree", async () => {
  for (const version of VALID) assert.ok(parseVersion(version), version);
  for (const version of INVALID.slice(0, -1)) {
    assert.equal(parseVersion(version), undefined, version);
  }
  await fc.assert(
    fc.asyncProperty(
      fc.string({
        unit: fc.constantFrom(..."0123456789.-+aZ"),
        maxLength: 20,
      }),
      async (version) => {
        const errors = await errorsOf(minimal((m) => m.version = version));
        assert.equal(errors.length === 0, parseVersion(version) !== undefined);
      },
    ),
    { seed: 20_120, numRuns: 300 },
  );
});

Deno.test("P1 clause 4: build metadata does not count", () => {
  assert.equal(compareVersions("1.0.0+a", "1.0.0+b"), 0);
  assert.equal(compareVersions("1.0.0-rc.1+a", "1.0.0-rc.1"), 0);
});

Deno.test("compareVersions() orders as SemVer §11 does", () => {
  const ordered = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.9",
    "1.0.10",
    "1.10.0",
    "2.0.0",
    "9007199254740992.0.0",
    "9007199254740993.0.0",
    "99999999999999999999.0.0",
  ];
  for (const [i, a] of ordered.entries()) {
    for (const [j, b] of ordered.entries()) {
      assert.equal(
        Math.sign(compareVersions(a, b)),
        Math.sign(i - j),
        `${a} ${b}`,
      );
    }
  }
  assert.throws(() => compareVersions("1.0", "1.0.0"), RangeError);
});

Deno.test("compareVersions() agrees with node-semver", () => {
  const version = fc.tuple(
    fc.nat(20),
    fc.nat(20),
    fc.nat(3),
    fc.constantFrom("", "-0", "-1", "-a", "-a.1", "-a.b", "-1.a", "-a-1"),
    fc.constantFrom("", "+x", "+001"),
  ).map(([a, b, c, pre, build]) => `${a}.${b}.${c}${pre}${build}`);
  fc.assert(
    fc.property(version, version, (a, b) => {
      assert.equal(Math.sign(compareVersions(a, b)), semver.compare(a, b));
    }),
    { seed: 11, numRuns: 500 },
  );
});
