/** Decision D5: what a destructive or outward call needs before it runs. */
import assert from "node:assert/strict";
import type { Confirmations } from "../../../bridge/ports.ts";
import { CONFIRMED, Harness, principal } from "../../support/bridge_harness.ts";
import { TENANT_B } from "../../support/tokens.ts";

const APPEND = { kind: "decision", body: { a: 1, b: 2 } };
const INVOKE = { skill_id: "audit", inputs: {} };
const NEEDS: readonly [string, unknown][] = [
  ["cyberos.memory.append_audit", APPEND],
  ["cyberos.skill.invoke_skill", INVOKE],
];

for (const [name, args] of NEEDS) {
  Deno.test(`P2-AC15 ${name} without confirmation is authz_denied and touches nothing`, async () => {
    const harness = new Harness();
    const { error } = await harness.tool(name, args);
    assert.equal(error.code, -32000);
    assert.equal(error.data.class, "authz_denied");
    assert.match(error.data.hint, /elicit_confirm/);
    assert.equal(harness.loads, 0);
  });

  Deno.test(`P2-AC15 ${name} runs on the host's word`, async () => {
    const harness = new Harness();
    const { result } = await harness.tool(name, args, { meta: CONFIRMED });
    assert.equal(result.isError, false);
    await harness.tasks.idle();
    assert.equal(harness.upstreams.calls.length, 1);
  });

  Deno.test(`P2-AC15 ${name} as a task confirms before the task is created`, async () => {
    const harness = new Harness();
    if (!name.includes("skill")) return;
    const refused = await harness.tool(name, args, { task: {} });
    assert.equal(refused.error.code, -32000);
    assert.equal(harness.tasks.starts.length, 0);
    const made = await harness.tool(name, args, { task: {}, meta: CONFIRMED });
    assert.equal(made.result.task.status, "working");
    await harness.tasks.idle();
  });
}

const NO_WORDS: readonly unknown[] = ["true", 1, {}, [], "yes", null, false];

for (const word of NO_WORDS) {
  Deno.test(`only true itself is the host's word, not ${JSON.stringify(word)}`, async () => {
    const harness = new Harness();
    const { error } = await harness.tool(
      "cyberos.memory.append_audit",
      APPEND,
      {
        meta: { "mcp/sampling/elicit_confirm": word } as never,
      },
    );
    assert.equal(error.data.class, "authz_denied");
    assert.equal(harness.loads, 0);
  });
}

Deno.test("AUTH-21 a tool argument never confirms: the model writes those", async () => {
  const harness = new Harness();
  for (const key of ["confirm", "elicit_confirm", "_meta", "confirmed"]) {
    const value = key === "_meta" ? CONFIRMED : true;
    const { error } = await harness.tool("cyberos.memory.append_audit", {
      ...APPEND,
      [key]: value,
    });
    assert.equal(error.data.class, "input_validation");
    const inBody = await harness.tool("cyberos.memory.append_audit", {
      kind: "decision",
      body: { [key]: value },
    });
    assert.equal(inBody.error.data.class, "authz_denied");
  }
  assert.equal(harness.loads, 0);
});

Deno.test("tools that neither destroy nor reach outside ask nobody", async () => {
  const harness = new Harness();
  const { result } = await harness.tool("cyberos.memory.read_audit");
  assert.equal(result.isError, false);
});

/** Confirms exactly one call, as a token bound to it would. */
function confirmationsOf(token: string, bound: string): Confirmations {
  return {
    verify: (given, { principal, tool, arguments: args }) => {
      const call = `${principal.tenantId} ${principal.subject} ${tool} ${
        JSON.stringify(args)
      }`;
      return Promise.resolve(given === token && call === bound);
    },
  };
}

const BOUND = `${principal().tenantId} user-1 cyberos.memory.append_audit ${
  JSON.stringify(APPEND)
}`;
const TOKEN = { "cyberos/confirmation_token": "signed" };

Deno.test("AUTH-21 a confirmation token confirms its own call only", async () => {
  const harness = new Harness({
    confirmations: confirmationsOf("signed", BOUND),
  });
  const call = async (args: unknown, meta: Record<string, string>) =>
    (await harness.tool("cyberos.memory.append_audit", args, { meta })).error
      ?.data.class;
  const other = { ...APPEND, kind: "risk" };
  assert.equal(await call(other, TOKEN), "authz_denied");
  const forged = { "cyberos/confirmation_token": "forged" };
  assert.equal(await call(APPEND, forged), "authz_denied");
  harness.caller = () => principal({ subject: "user-2" });
  assert.equal(await call(APPEND, TOKEN), "authz_denied");
  harness.caller = () => principal({ tenantId: TENANT_B });
  assert.equal(await call(APPEND, TOKEN), "authz_denied");
  assert.equal(harness.loads, 0);
  harness.caller = () => principal();
  assert.equal(await call(APPEND, TOKEN), undefined);
});

Deno.test("AUTH-21 a replayed confirmation token repeats nothing: one row, one task", async () => {
  const harness = new Harness({
    confirmations: { verify: () => Promise.resolve(true) },
  });
  const append = () =>
    harness.tool("cyberos.memory.append_audit", APPEND, { meta: TOKEN });
  const first = await append();
  const second = await append();
  assert.equal(first.result.structuredContent.seq, 1);
  assert.equal(second.result.structuredContent.seq, 1);
  const invoke = () =>
    harness.tool("cyberos.skill.invoke_skill", INVOKE, { meta: TOKEN });
  const started = await invoke();
  const replayed = await invoke();
  assert.equal(
    started.result.structuredContent.task_id,
    replayed.result.structuredContent.task_id,
  );
  assert.equal(harness.tasks.starts.length, 1);
  await harness.tasks.idle();
  // The token itself is no key that anyone could read back.
  const keys = JSON.stringify(harness.upstreams.calls);
  assert.ok(!keys.includes('"signed"'));
});

Deno.test("AUTH-21 the same confirmation under another spelling of its signature repeats nothing", async () => {
  const harness = new Harness({
    confirmations: { verify: () => Promise.resolve(true) },
  });
  const append = (token: string) =>
    harness.tool("cyberos.memory.append_audit", APPEND, {
      meta: { "cyberos/confirmation_token": token },
    });
  // The last character of a base64url signature has bits that nobody reads.
  const seqs = [];
  for (const token of ["e30.e30.AA", "e30.e30.AB", "e30.e31.AA"]) {
    seqs.push((await append(token)).result.structuredContent.seq);
  }
  assert.deepEqual(seqs, [1, 1, 2]);
});

Deno.test("AUTH-21 a confirmed task is remembered for as long as its token can be replayed", async () => {
  const harness = new Harness({
    confirmations: { verify: () => Promise.resolve(true) },
  });
  const start = (meta: Record<string, unknown>) =>
    harness.tool("cyberos.skill.invoke_skill", INVOKE, {
      meta: meta as never,
      task: { ttl: 1000 },
    });
  await start(TOKEN);
  await start(CONFIRMED);
  const [byToken, byHost] = harness.tasks.starts.map(({ ttlMs }) => ttlMs);
  assert.equal(byToken, 360_000);
  assert.equal(byHost, 1000, "whoever confirms each call may have it short");
  await harness.tasks.idle();
});

Deno.test("without tokens configured, a token confirms nothing", async () => {
  const harness = new Harness();
  const { error } = await harness.tool("cyberos.memory.append_audit", APPEND, {
    meta: TOKEN,
  });
  assert.equal(error.data.class, "authz_denied");
});

Deno.test("P2-FM08 the scope is judged before anyone is asked to confirm", async () => {
  const harness = new Harness();
  harness.caller = () => principal({ scopes: [] });
  const { error } = await harness.tool("cyberos.memory.append_audit", APPEND);
  assert.deepEqual(error.data.missing_scopes, ["cyberos:memory:write"]);
});

Deno.test("asking how a confirmed run goes needs no second confirmation, and starts nothing", async () => {
  const harness = new Harness();
  const args = { ...INVOKE, idempotency_key: "monday" };
  const call = (more: object, meta = {}) =>
    harness.tool("cyberos.skill.invoke_skill", { ...args, ...more }, { meta });
  const early = await call({});
  assert.equal(early.error.data.class, "authz_denied");
  const first = await call({}, CONFIRMED);
  const { task_id } = first.result.structuredContent;
  await harness.tasks.idle();
  const later = await call({ wait_seconds: 5 });
  assert.equal(later.result.structuredContent.task_id, task_id);
  assert.equal(later.result.structuredContent.status, "completed");
  assert.equal(harness.tasks.starts.length, 1);
  const other = await call({ inputs: { changed: true } });
  assert.equal(other.error.data.class, "input_validation");
  harness.caller = () => principal({ subject: "user-2" });
  const stranger = await call({});
  assert.equal(stranger.error.data.class, "authz_denied");
  harness.caller = () => principal({ tenantId: TENANT_B });
  assert.equal((await call({})).error.data.class, "authz_denied");
  assert.equal(harness.tasks.starts.length, 1);
});
