/** Tokens stay in their header; nothing is left behind by requests. */
import assert from "node:assert/strict";
import { CONFIRMED } from "../../support/bridge_harness.ts";
import {
  PING,
  sendRaw,
  TOKEN,
  tokenWith,
  toolCall,
  withBridge,
} from "./support.ts";

Deno.test("AUTH-18 the caller's token reaches no upstream, log, span or answer", async () => {
  await withBridge({}, async ({ post, url, harness, log }) => {
    const expired = await tokenWith({ exp: 1 });
    const forged = `${TOKEN.slice(0, -20)}AAAAAAAAAAAAAAAAAAAA`;
    harness.upstreams.behaviours.set("cuo.route", () => {
      throw new Error("bug");
    });
    let answers = "";
    for (const token of [TOKEN, expired, forged]) {
      for (
        const message of [
          PING,
          toolCall("cyberos.cuo.route", { query: "x" }),
          toolCall("cyberos.cuo.list_personas"),
          toolCall("cyberos.memory.append_audit", { kind: "a", body: {} }, {
            _meta: CONFIRMED,
          }),
          toolCall("cyberos.skill.invoke_skill", {
            skill_id: "audit",
            inputs: {},
          }, { _meta: CONFIRMED }),
        ]
      ) {
        const response = await post(message, {
          authorization: `Bearer ${token}`,
        });
        answers += [...response.headers].join() + await response.text();
      }
      const query = await fetch(`${url}/mcp?access_token=${token}`);
      answers += await query.text();
    }
    assert(harness.upstreams.calls.length >= 4);
    const seen = [
      answers,
      JSON.stringify(harness.upstreams.calls),
      JSON.stringify(harness.telemetry.spans),
      JSON.stringify(harness.log.lines),
      JSON.stringify(log.lines),
      JSON.stringify(harness.tasks.starts),
    ];
    for (const token of [TOKEN, expired, forged]) {
      for (const part of token.split(".").slice(1)) {
        for (const text of seen) assert(!text.includes(part));
      }
    }
  });
});

Deno.test("HTTP-19 listing 200 times, half of it abandoned, starts nothing and leaves nothing", async () => {
  await withBridge({}, async ({ post, port, harness, server }) => {
    const list = { ...PING, method: "tools/list" };
    const texts = new Set<string>();
    for (let id = 0; id < 100; id++) {
      const response = await post({ ...list, id });
      texts.add(JSON.stringify((await response.json()).result));
      const body = JSON.stringify(list);
      await sendRaw(
        port,
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${
          body.slice(0, id % body.length)
        }`,
        1,
      );
    }
    assert.equal(texts.size, 1);
    assert.equal(harness.loads, 0);
    const deadline = Date.now() + 5_000;
    while ((server.connections ?? 0) > 3 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert((server.connections ?? 0) <= 3);
  });
});

Deno.test("HTTP-22 a task outlives the connection that started it", async () => {
  await withBridge({}, async ({ post, port, harness }) => {
    const gate = Promise.withResolvers<void>();
    harness.upstreams.behaviours.set("cuo.executeWorkflow", async () => {
      await gate.promise;
      return { steps_executed: 1, final_artifacts: [] };
    });
    const run = JSON.stringify(
      toolCall("cyberos.cuo.execute_workflow", {
        persona: "chief-technology-officer",
        workflow: "architect-new-system",
        inputs: {},
        wait_seconds: 50,
      }, { _meta: { progressToken: 1 } }),
    );
    await sendRaw(
      port,
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${run.length}\r\n\r\n${run}`,
      100,
    );
    const listed = await post({ ...PING, method: "tasks/list" });
    const [task] = (await listed.json()).result.tasks;
    assert.equal(task.status, "working");
    gate.resolve();
    const result = await post({
      ...PING,
      method: "tasks/result",
      params: { taskId: task.taskId },
    });
    assert.match(await result.text(), /"steps_executed\\?":1/);
  });
});
