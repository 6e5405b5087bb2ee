import assert from "node:assert/strict";
import { loadConfig } from "../../bridge/config/load.ts";
import type { BridgeCommand } from "../../bridge/sandbox/launch_message.ts";
import {
  type SandboxFacts,
  sandboxPermissions,
} from "../../bridge/sandbox/permissions.ts";
import { ESCAPES } from "../sandbox/escapes.ts";

const PAGE = Deno.readTextFileSync(
  new URL("../../docs/sandbox.md", import.meta.url),
);

const NOTHING: SandboxFacts = {
  command: "serve",
  otelUrl: undefined,
  cuoProgram: undefined,
  dataDir: undefined,
  workDir: undefined,
  codeDirs: [],
};
const CUO = { cuoProgram: "cyberos-cuo", workDir: "WORK" };
const DATA = { dataDir: "DATA", codeDirs: ["CODE"] };

/** What stands behind each row of the page's table. */
const ROWS: readonly (readonly [
  name: string,
  command: BridgeCommand,
  args: readonly string[],
  facts: Partial<SandboxFacts>,
])[] = [
  ["nothing configured, stdio", "serve", [], CUO],
  ["a server with everything configured", "serve", [
    "--transport=http",
    "--listen=0.0.0.0:8082",
    "--skill-broker-endpoint=https://skills.example",
    "--memory-endpoint=https://memory.example",
    "--jwks-url=https://keys.example/jwks.json",
    "--cuo-endpoint=https://cuo.example",
    "--database-url=postgres://app@db.example/cyberos",
  ], { otelUrl: "http://otel.example:4318/v1/traces" }],
  [
    "skills from a folder, a token file",
    "serve",
    ["--skills-dir=/skills"],
    CUO,
  ],
  ["`--embedded`", "serve", ["--embedded"], DATA],
  ["`--embedded --transport http`", "serve", [
    "--embedded",
    "--transport=http",
  ], DATA],
  ["`check`", "check", [], { cuoProgram: "cyberos-cuo" }],
  ["`migrate`", "migrate", [
    "--owner-database-url=postgres://owner@db.example/cyberos",
  ], {}],
  ["`token --embedded`, `reset --embedded`", "token", ["--embedded"], DATA],
  ["`health`", "health", [], {}],
];

function cells(
  [name, command, args, facts]: typeof ROWS[number],
): readonly string[] {
  const { config, problems } = loadConfig({
    args,
    env: (variable) =>
      variable === "CYBEROS_TOKEN_FILE" && name.includes("token file")
        ? "/token"
        : undefined,
    readTextFile: () => "{}",
  });
  assert.deepEqual(problems, []);
  const { net, run, read, write } = sandboxPermissions(config, {
    ...NOTHING,
    ...facts,
    command,
  });
  const list = (values: readonly string[]) =>
    values.length === 0
      ? "none"
      : values.map((value) => `\`${value}\``).join(", ");
  return [name, list(net), list(run), list(read), list(write)];
}

/** The rows of the first table after a heading, cells trimmed. */
function tableAfter(heading: string): string[][] {
  const [, rest = ""] = PAGE.split(`## ${heading}\n`);
  return rest.split("\n## ")[0]?.split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim())) ??
    [];
}

Deno.test("docs/sandbox.md: the table of grants is what the code computes", () => {
  assert.deepEqual(tableAfter("What is granted"), ROWS.map(cells));
});

Deno.test("docs/sandbox.md: what is always so, is", () => {
  for (const command of ["serve", "check", "migrate", "token"] as const) {
    const { config } = loadConfig({
      args: [],
      env: () => undefined,
      readTextFile: () => "{}",
    });
    const { env, sys, ffi, import: imported } = sandboxPermissions(config, {
      ...NOTHING,
      command,
    });
    assert.deepEqual(env, ["CYBEROS_TOKEN_FILE", "CYBEROS_ACCESS_TOKEN"]);
    assert.deepEqual({ sys, ffi, imported }, {
      sys: [],
      ffi: false,
      imported: false,
    });
  }
});

Deno.test("docs/sandbox.md lists every escape that the test tries", () => {
  const [, rest = ""] = PAGE.split("## What was tried\n");
  const listed = (rest.split("\n## ")[0] ?? "").split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2));
  assert.deepEqual(listed, ESCAPES.map(({ name }) => name));
});
