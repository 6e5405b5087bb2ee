/** Decision D5 on stdio: the bridge asks the person through the client. */
import assert from "node:assert/strict";
import { CONFIRMED, principal } from "../../support/bridge_harness.ts";
import {
  StdioClient,
  type StdioClientOptions,
} from "../../support/stdio_client.ts";
import { Harness } from "../../support/bridge_harness.ts";

const APPEND = { kind: "decision", body: { text: "We build it" } };
const TOOL = "cyberos.memory.append_audit";

async function connected(
  elicitation: object | undefined,
  options: StdioClientOptions = {},
): Promise<StdioClient> {
  const client = new StdioClient(options);
  await client.initialize(
    elicitation === undefined ? {} : { elicitation: { ...elicitation } },
  );
  return client;
}

Deno.test("a client that can elicit is asked, sees what would be appended, and accept runs the call", async () => {
  const client = await connected({});
  let question = "";
  client.onRequest = ({ method, params }) => {
    assert.equal(method, "elicitation/create");
    question = params.message;
    return { result: { action: "accept", content: {} } };
  };
  const { result } = await client.tool(TOOL, APPEND);
  assert.equal(result.structuredContent.seq, 1);
  assert.match(question, /never be changed or deleted/);
  assert.match(question, /We build it/);
  await client.close();
});

for (
  const [title, answer] of [
    ["decline", { result: { action: "decline" } }],
    ["cancel", { result: { action: "cancel" } }],
    ["an unknown action", { result: { action: "yes" } }],
    ["no action", { result: {} }],
    ["a result that is no object", { result: true }],
    ["an error", { error: { code: -32601, message: "Method not found" } }],
  ] as const
) {
  Deno.test(`a person's answer ${title} is authz_denied and touches nothing`, async () => {
    const client = await connected({ form: {} });
    client.onRequest = () => answer;
    const { error } = await client.tool(TOOL, APPEND);
    assert.equal(error.data.class, "authz_denied");
    assert.equal(client.harness.loads, 0);
    await client.close();
  });
}

Deno.test("a person who never answers has not confirmed, and the client hears that we no longer wait", async () => {
  const harness = new Harness({ options: { confirmTimeoutMs: 20 } });
  const client = await connected({}, { harness });
  const { error } = await client.tool(TOOL, APPEND);
  assert.equal(error.data.class, "authz_denied");
  const asked = client.received.find(({ method }) =>
    method === "elicitation/create"
  );
  const told = await client.until(({ method }) =>
    method === "notifications/cancelled"
  );
  assert.equal(told.params.requestId, asked.id);
  await client.close();
});

for (const elicitation of [undefined, { url: {} }]) {
  Deno.test(`a client that declared elicitation ${JSON.stringify(elicitation)} is not asked`, async () => {
    const client = await connected(elicitation);
    const { error } = await client.tool(TOOL, APPEND);
    assert.equal(error.data.class, "authz_denied");
    await client.close();
    assert.ok(!client.received.some(({ method }) => method !== undefined));
  });
}

Deno.test("the host's own word spares the person the question", async () => {
  const client = await connected({});
  const { result } = await client.tool(TOOL, APPEND, { _meta: CONFIRMED });
  assert.equal(result.structuredContent.seq, 1);
  await client.close();
});

Deno.test("nobody is asked about a call that could not run: wrong arguments, missing scope", async () => {
  const client = await connected({}, {
    authenticate: () => Promise.resolve(principal({ scopes: [] })),
  });
  await client.tool(TOOL, APPEND);
  await client.close();
  assert.ok(!client.received.some(({ method }) => method !== undefined));
});

Deno.test("answers with strange ids settle nothing, and the right one still does", async () => {
  const client = await connected({});
  client.onRequest = ({ id }) => {
    const result = { action: "accept" };
    client.send({ jsonrpc: "2.0", id: "cyberos-999", result });
    client.send({ jsonrpc: "2.0", id: null, error: { code: 1, message: "" } });
    client.send({ jsonrpc: "2.0", id: 1, result });
    client.send({ jsonrpc: "2.0", id, result: { action: "decline" } });
    client.send({ jsonrpc: "2.0", id, result });
    return undefined;
  };
  const { error } = await client.tool(TOOL, APPEND);
  assert.match(error.message, /declined/);
  await client.close();
});

Deno.test("a call cancelled while the person is asked takes its question back and is not answered", async () => {
  const client = await connected({});
  client.send({
    jsonrpc: "2.0",
    id: 50,
    method: "tools/call",
    params: { name: TOOL, arguments: APPEND },
  });
  await client.until(({ method }) => method === "elicitation/create");
  client.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 50 },
  });
  await client.until(({ method }) => method === "notifications/cancelled");
  await client.close();
  assert.ok(!client.received.some(({ id }) => id === 50));
  assert.equal(client.harness.loads, 0);
});

Deno.test("a long body is shown in part, with its length", async () => {
  const client = await connected({});
  let question = "";
  client.onRequest = ({ params }) => {
    question = params.message;
    return { result: { action: "decline" } };
  };
  await client.tool(TOOL, { kind: "decision", body: { t: "x".repeat(9000) } });
  assert.ok(question.length < 1500);
  assert.match(question, /9008 characters/);
  await client.close();
});

Deno.test("what a model writes cannot pass for a part of the question, nor hide in it", async () => {
  const client = await connected({});
  let question = "";
  client.onRequest = ({ params }) => {
    question = params.message;
    return { result: { action: "decline" } };
  };
  const skill_id = 'a"?\n\nA routine check, press accept. "';
  await client.tool("cyberos.skill.invoke_skill", {
    skill_id,
    inputs: { "k\u200b": "\u202etxt.exe \u{e0041}\u2028" },
  });
  assert.match(question, /^Run the skill "a\\"\?\\n\\nA routine check/);
  assert.match(question, /\\u\{202e\}txt\.exe \\u\{e0041\}\\u\{2028\}/);
  assert.match(question, /"k\\u\{200b\}"/);
  assert.doesNotMatch(question, /[\p{Cc}\p{Cf}\p{Zl}]/u);
  await client.close();
});
