import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { permissionFlags, PROGRAMS } from "../../scripts/compile/programs.ts";
import {
  closure,
  type DenoConfig,
  type DenoLock,
  prunedLock,
  readJson,
} from "../../scripts/compile/project.ts";
import { sbom } from "../../scripts/compile/sbom.ts";

const config = await readJson<DenoConfig>("deno.json");
const lock = await readJson<DenoLock>("deno.lock");

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { alg: string; content: string }[];
}

Deno.test("the bill of materials names what the programs load, with the lockfile's checksums, and nothing else", async () => {
  const input = { config, lock, programs: PROGRAMS, denoVersion: "2.9.6" };
  const text = await sbom(input);
  assert.equal(await sbom(input), text, "the same twice");
  const bill = JSON.parse(text);
  assert.equal(bill.bomFormat, "CycloneDX");
  assert.equal(bill.specVersion, "1.6");
  assert.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-/);
  const components = bill.components as Component[];
  const names = components.map(({ name }) => name);
  const loaded = ["deno", "postgres", "jose", "@electric-sql/pglite", "yaml"];
  for (const name of [...loaded, "@sigstore/verify"]) {
    assert.ok(names.includes(name), name);
  }
  for (const name of ["fast-check", "oidc-provider", "@sigstore/mock"]) {
    assert.ok(!names.includes(name), `${name} is for tests only`);
  }
  for (const { name, version, purl, hashes } of components.slice(1)) {
    const [, locked] = Object.entries(lock.npm).find(([key]) =>
      key === `${name}@${version}` || key.startsWith(`${name}@${version}_`)
    ) ?? [];
    const sum = Buffer.from(locked?.integrity.slice(7) ?? "", "base64");
    assert.deepEqual(hashes, [{
      alg: "SHA-512",
      content: sum.toString("hex"),
    }]);
    assert.equal(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`);
  }
});

Deno.test("a pruned lockfile keeps a package, what it needs, and their checksums", () => {
  const pruned = prunedLock(config, lock, ["spdx-expression-parse"]);
  assert.deepEqual(
    Object.keys(pruned.npm).map((key) => key.replace(/@[^@]*$/, "")).sort(),
    ["spdx-exceptions", "spdx-expression-parse", "spdx-license-ids"],
  );
  for (const [key, locked] of Object.entries(pruned.npm)) {
    assert.deepEqual(locked, lock.npm[key]);
  }
  assert.throws(() => closure(lock, ["no-such-package"]), /does not hold/);
});

Deno.test("compiled programs get the permissions of their tasks, and never a prompt", () => {
  for (const program of PROGRAMS) {
    const flags = permissionFlags(config, program);
    const command = config.tasks[program.task]?.command.replaceAll("'", "");
    assert.ok(flags.includes("--no-prompt"));
    assert.ok(!flags.some((flag) => /^(-A|--allow-all)/.test(flag)));
    for (const flag of flags) assert.ok(command?.includes(flag), flag);
  }
  const prompting = {
    ...config,
    tasks: { bridge: { command: "deno run --allow-net bridge/main.ts" } },
  };
  const [bridge] = PROGRAMS;
  assert.ok(bridge);
  assert.throws(() => permissionFlags(prompting, bridge), /could prompt/);
});
