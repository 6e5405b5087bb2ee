/** The embedded bridge, as a person tries it first: a real process, the SDK's own client. */
import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { TOOLS } from "../../schema/tools.ts";
import {
  bridgeArgs,
  cleanEnv,
  connect,
  type ConnectedClient,
  runBridge,
} from "./bridge_process.ts";

const CONFIRMED = { "mcp/sampling/elicit_confirm": true };
const RUN = {
  persona: "chief-technology-officer",
  workflow: "adr-quick-capture",
  inputs: { decision_context: "PostgreSQL or SQLite for the task store" },
};

// deno-lint-ignore no-explicit-any -- read loosely by assertions.
type Loose = any;

/** Every tool once, the two refusals of an unconfirmed call among them. */
async function callAll({ client, call }: ConnectedClient): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    TOOLS.map(({ name }) => name),
  );
  const { personas } = await call("cyberos.cuo.list_personas") as Loose;
  assert.equal(personas.length, 47);
  const listed = await call("cyberos.cuo.list_workflows", {
    persona: "chief-executive-officer",
  }) as Loose;
  assert.ok(
    listed.workflows.some((one: Loose) =>
      one.slug === "quarterly-board-update"
    ),
  );
  const route = await call("cyberos.cuo.route", {
    query: "Architect a new payment routing system for Southeast Asian markets",
  }) as Loose;
  assert.equal(
    `${route.persona}/${route.workflow}`,
    "chief-technology-officer/architect-new-system",
  );
  const nothing = await call("cyberos.cuo.route", {
    query: "zzxqv brrp 9981",
  }) as Loose;
  assert.equal(nothing.matched, false);
  const run = await call("cyberos.cuo.execute_workflow", {
    ...RUN,
    wait_seconds: 40,
  }) as Loose;
  assert.equal(run.status, "completed", JSON.stringify(run));
  assert.equal(run.output.steps_executed, 2);
  assert.match(JSON.stringify(run.output), /no model of its own/);
  const catalog = await call("cyberos.skill.list_catalog", {
    limit: 500,
  }) as Loose;
  assert.equal(catalog.total, 248);
  const skill = { skill_id: "threat-model-author", inputs: {} };
  await assert.rejects(call("cyberos.skill.invoke_skill", skill), /confirm/i);
  const invoked = await call(
    "cyberos.skill.invoke_skill",
    { ...skill, wait_seconds: 30 },
    CONFIRMED,
  ) as Loose;
  assert.equal(invoked.status, "completed");
  const row = { kind: "decision", body: { title: "PostgreSQL" } };
  await assert.rejects(call("cyberos.memory.append_audit", row), /confirm/i);
  const appended = await call(
    "cyberos.memory.append_audit",
    row,
    CONFIRMED,
  ) as Loose;
  assert.ok(Number.isInteger(appended.seq));
  const read = await call("cyberos.memory.read_audit", {
    kind: "decision",
  }) as Loose;
  assert.equal(read.rows.length, 1);
  assert.equal(read.rows[0].body.title, "PostgreSQL");
}

Deno.test("embedded on stdio: all 8 tools, through the SDK's own client", async () => {
  await using bridge = await connect(["--embedded", "--ephemeral"]);
  await callAll(bridge);
});

Deno.test("embedded over http: a minted token, all 8 tools, 401 without one", async () => {
  const dataDir = await Deno.makeTempDir();
  const child = new Deno.Command(Deno.execPath(), {
    args: await bridgeArgs([
      "--embedded",
      "--transport=http",
      "--listen=127.0.0.1:0",
      `--data-dir=${dataDir}`,
    ]),
    clearEnv: true,
    env: cleanEnv({ CYBEROS_LOG_LEVEL: "info" }),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  try {
    const reader = child.stderr.pipeThrough(new TextDecoderStream())
      .getReader();
    let said = "";
    while (!/every scope:\n\S+\n/.test(said)) {
      const { value, done } = await reader.read();
      if (done) throw new Error(said);
      said += value;
    }
    const url = new URL(said.match(/Serving (\S+)/)?.[1] ?? "");
    const printed = said.match(/every scope:\n(\S+)\n/)?.[1] ?? "";
    const minted = await runBridge([
      "token",
      "--embedded",
      `--data-dir=${dataDir}`,
    ]);
    assert.equal(minted.code, 0, minted.stderr);
    for (const token of [printed, minted.stdout.trim()]) {
      const client = new Client({ name: "e2e", version: "1.0.0" });
      await client.connect(
        new StreamableHTTPClientTransport(url, {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      );
      if (token === printed) {
        await callAll({
          client,
          call: async (name, args = {}, meta) => {
            const _meta = meta === undefined ? {} : { _meta: meta };
            const result = await client.callTool({
              name,
              arguments: args,
              ..._meta,
            });
            return result.structuredContent as Record<string, unknown>;
          },
          [Symbol.asyncDispose]: () => client.close(),
        });
      } else assert.equal((await client.listTools()).tools.length, 8);
      await client.close();
    }
    const refused = await fetch(url, { method: "POST", body: "{}" });
    assert.equal(refused.status, 401);
    await refused.body?.cancel();
    await reader.cancel();
  } finally {
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0);
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("embedded data outlives the process, and reset removes it", async () => {
  const dataDir = `${await Deno.makeTempDir()}/data`;
  const args = ["--embedded", `--data-dir=${dataDir}`];
  const row = { kind: "decision", body: { title: "kept" } };
  {
    await using bridge = await connect(args);
    await bridge.call("cyberos.memory.append_audit", row, CONFIRMED);
  }
  {
    await using bridge = await connect(args);
    const { rows } = await bridge.call("cyberos.memory.read_audit") as Loose;
    assert.equal(rows.length, 1);
  }
  const asked = await runBridge(["reset", ...args]);
  assert.equal(asked.code, 2, "reset asks first");
  const done = await runBridge(["reset", ...args, "--yes"]);
  assert.equal(done.code, 0, done.stderr);
  await using bridge = await connect(args);
  const { rows } = await bridge.call("cyberos.memory.read_audit") as Loose;
  assert.equal(rows.length, 0);
});

Deno.test("several embedded bridges share one data folder, and survive the first one's death", async () => {
  const dataDir = await Deno.makeTempDir();
  const args = ["--embedded", `--data-dir=${dataDir}`];
  await using first = await connect(args);
  await first.call(
    "cyberos.memory.append_audit",
    { kind: "decision", body: { n: 1 } },
    CONFIRMED,
  );
  await using second = await connect(args);
  await second.call(
    "cyberos.memory.append_audit",
    { kind: "decision", body: { n: 2 } },
    CONFIRMED,
  );
  const seen = await first.call("cyberos.memory.read_audit", {
    kind: "decision",
  }) as Loose;
  assert.equal(seen.rows.length, 2);
  const pid = (first.client.transport as unknown as { pid: number }).pid;
  Deno.kill(pid, "SIGKILL");
  const after = await second.call("cyberos.memory.read_audit", {
    kind: "decision",
  }) as Loose;
  assert.equal(after.rows.length, 2);
  await using third = await connect(args);
  const again = await third.call("cyberos.memory.read_audit", {
    kind: "decision",
  }) as Loose;
  assert.equal(again.rows.length, 2);
});

Deno.test("check says that the embedded bridge is ready, and what an unconfigured one lacks", async () => {
  const ready = await runBridge([
    "check",
    "--embedded",
    "--ephemeral",
    "--json",
  ]);
  assert.equal(ready.code, 0, ready.stdout + ready.stderr);
  assert.equal(JSON.parse(ready.stdout).ready, true);
  const lacking = await runBridge(["check"], {
    env: {
      CYBEROS_AUTH_ISSUER: "http://127.0.0.1:9",
      MEMORY_ENDPOINT: "http://127.0.0.1:9",
      CYBEROS_CUO: "no-such-program",
    },
  });
  assert.equal(lacking.code, 1);
  assert.match(lacking.stdout, /Not ready/);
  assert.match(lacking.stdout, /CYBEROS_DATABASE_URL/);
});
