/** Nothing from inside reaches a caller, whatever fails and however. */
import assert from "node:assert/strict";
import { BridgeError, type BridgeErrorCode } from "../../../bridge/errors.ts";
import {
  CONFIRMED,
  Harness,
  type Loose,
  RUN,
} from "../../support/bridge_harness.ts";
import { TENANT_B } from "../../support/tokens.ts";

const MARKERS = [
  "audit-body-marker",
  "SELECT * FROM plugin_host.tasks",
  "/srv/cyberos/secret.md",
  "C:\\cyberos\\secret",
  "eyJhbGciOiJSUzI1NiJ9.token.marker",
  "postgres://bridge:hunter2@db/cyberos",
  TENANT_B,
  "at Object.readAudit (",
];
const PLANTED = MARKERS.join(" | ");

const CALLS: readonly [string, string, Loose][] = [
  ["cuo.listPersonas", "cyberos.cuo.list_personas", {}],
  ["cuo.listWorkflows", "cyberos.cuo.list_workflows", { persona: "x" }],
  ["cuo.route", "cyberos.cuo.route", { query: "x" }],
  ["cuo.executeWorkflow", "cyberos.cuo.execute_workflow", {
    ...RUN,
    wait_seconds: 5,
  }],
  ["memory.readAudit", "cyberos.memory.read_audit", {}],
  ["memory.appendAudit", "cyberos.memory.append_audit", {
    kind: "decision",
    body: {},
  }],
  ["skills.list", "cyberos.skill.list_catalog", {}],
  ["skills.invoke", "cyberos.skill.invoke_skill", {
    skill_id: "audit",
    inputs: {},
    wait_seconds: 5,
  }],
];

function plainError(): Error {
  const error = new Error(PLANTED, { cause: new Error(PLANTED) });
  error.stack = PLANTED;
  return Object.assign(error, {
    query: PLANTED,
    detail: PLANTED,
    hint: PLANTED,
  });
}

function refusal(code: BridgeErrorCode): BridgeError {
  return new BridgeError(code, "Safe words", { cause: plainError() });
}

const FAILURES: readonly [string, () => unknown][] = [
  ["an Error", plainError],
  ["a TypeError", () => new TypeError(PLANTED)],
  ["a text", () => PLANTED],
  ["an object that looks like ours", () => ({
    name: "BridgeError",
    code: "NOT_FOUND",
    message: PLANTED,
    hint: PLANTED,
    data: { leak: PLANTED },
  })],
  ["UPSTREAM_UNAVAILABLE with a cause", () => refusal("UPSTREAM_UNAVAILABLE")],
  ["NOT_FOUND with a cause", () => refusal("NOT_FOUND")],
  ["INTERNAL with a cause", () => refusal("INTERNAL")],
];

function assertClean(where: string, ...seen: unknown[]): void {
  const text = JSON.stringify(seen);
  for (const marker of MARKERS) {
    const escaped = JSON.stringify(marker).slice(1, -1);
    assert.ok(!text.includes(escaped), `${where} shows ${marker}: ${text}`);
  }
}

for (const [title, make] of FAILURES) {
  Deno.test(`P2-AC22 HTTP-23 no answer, notification or span shows what is inside ${title}`, async () => {
    for (const [method, name, args] of CALLS) {
      const harness = new Harness();
      harness.upstreams.behaviours.set(method, () => {
        throw make();
      });
      const meta = {
        ...CONFIRMED,
        progressToken: 1,
        "io.modelcontextprotocol/logLevel": "debug",
      };
      const response = await harness.tool(name, args, { meta });
      const task = response.result?.structuredContent?.task_id;
      const later = task === undefined ? [] : [
        await harness.request("tasks/get", { id: task }),
        await harness.request("tasks/get", { taskId: task }),
        await harness.request("tasks/result", { taskId: task }),
        await harness.request("tasks/list"),
      ];
      assertClean(
        `${name} over ${title}`,
        response,
        later,
        harness.notified,
        harness.telemetry.spans,
      );
      // The control: the failure did happen, and the operator can read of it.
      const said = JSON.stringify([response, later]);
      assert.match(said, /"class":"(internal|upstream|input)_/);
    }
  });
}

for (const [title, make] of FAILURES) {
  Deno.test(`P2-AC22 a store that fails with ${title} shows nothing of itself`, async () => {
    const harness = new Harness();
    harness.tasks.failure = make();
    const seen = [
      await harness.tool("cyberos.cuo.execute_workflow", RUN),
      await harness.tool("cyberos.cuo.execute_workflow", RUN, { task: {} }),
    ];
    for (const verb of ["get", "result", "list", "cancel"]) {
      seen.push(await harness.request(`tasks/${verb}`, { id: "t-1" }));
    }
    for (const { error } of seen) assert.ok(error);
    assertClean(title, seen, harness.telemetry.spans);
  });
}

Deno.test("an authenticator that breaks shows nothing of the token", async () => {
  const harness = new Harness();
  harness.caller = () => {
    throw plainError();
  };
  const response = await harness.tool("cyberos.cuo.list_personas");
  assert.equal(response.error.code, -32603);
  assertClean("the authenticator", response, harness.telemetry.spans);
  const tasks = await harness.request("tasks/list");
  assertClean("the authenticator", tasks);
});

Deno.test("a getter that fails to make the upstreams shows nothing of why", async () => {
  const harness = new Harness({
    deps: {
      upstreams: () => Promise.reject(plainError()),
      tasks: () => Promise.reject(plainError()),
    },
  });
  for (const [, name, args] of CALLS) {
    const response = await harness.tool(name, args, { meta: CONFIRMED });
    assertClean(name, response);
  }
  assertClean("tasks", await harness.request("tasks/list"));
});

Deno.test("a parse error does not repeat the text that could not be parsed", async () => {
  const { decodeMessage } = await import(
    "../../../bridge/wire/decode_message.ts"
  );
  const { errorAnswer } = await import("../../../bridge/wire/encode_error.ts");
  try {
    decodeMessage(`{"secret":"${MARKERS[4]}" oops`);
    assert.fail("it must not parse");
  } catch (error) {
    const answer = errorAnswer(error, { id: null, traceId: "0".repeat(32) });
    assertClean("the answer", answer.response, (error as Error).cause);
  }
});

Deno.test("arguments that are refused are not repeated, only their places", async () => {
  const harness = new Harness();
  const response = await harness.tool("cyberos.memory.read_audit", {
    limit: PLANTED,
    kind: 5,
    actor: [PLANTED],
  });
  assert.equal(response.error.code, -32602);
  assertClean("the refusal", response, harness.log.lines);
});
