/** Answers as server-sent events, and callers who leave. */
import assert from "node:assert/strict";
import { openEventStream } from "../../../bridge/transports/http/event_stream.ts";
import { PING, sendRaw, TOKEN, toolCall, withBridge } from "./support.ts";

const RUN = {
  persona: "chief-technology-officer",
  workflow: "architect-new-system",
  inputs: {},
  wait_seconds: 5,
};
const WITH_PROGRESS = { _meta: { progressToken: "p" } };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
}

function messagesOf(text: string): Message[] {
  return text.split("\n").filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)));
}

Deno.test("HTTP-15 a call with a progress token streams progress, then its answer", async () => {
  await withBridge({}, async ({ post }) => {
    const response = await post(
      toolCall("cyberos.cuo.execute_workflow", RUN, WITH_PROGRESS),
    );
    assert.equal(response.status, 200);
    const { headers } = response;
    assert.equal(headers.get("content-type"), "text/event-stream");
    assert.match(headers.get("cache-control") ?? "", /no-cache.*no-transform/);
    assert.equal(headers.get("x-accel-buffering"), "no");
    const text = await response.text();
    assert(text.startsWith(": open\n\n"), "something goes out at once");
    assert(!/^id:/m.test(text), "nothing to resume");
    const messages = messagesOf(text);
    const last = messages.at(-1);
    assert.equal(last?.id, 1);
    assert.equal(last?.result?.isError, false);
    const progress = messages.slice(0, -1);
    assert(progress.length >= 1);
    for (const { method, params } of progress) {
      assert.equal(method, "notifications/progress");
      assert.equal(params?.progressToken, "p");
    }
  });
});

Deno.test("createHttpHandler() streams to many callers at once, each its own", async () => {
  await withBridge({}, async ({ post }) => {
    await Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const call = toolCall("cyberos.cuo.execute_workflow", RUN, {
        _meta: { progressToken: `p${index}` },
      });
      const response = await post({ ...call, id: index });
      const messages = messagesOf(await response.text());
      assert.equal(messages.at(-1)?.id, index);
      for (const { params } of messages.slice(0, -1)) {
        assert.equal(params?.progressToken, `p${index}`);
      }
    }));
  });
});

Deno.test("createHttpHandler() answers in JSON where the caller takes no events", async () => {
  await withBridge({}, async ({ post }) => {
    for (const accept of ["application/json", "*/*", ""]) {
      const response = await post(
        toolCall("cyberos.cuo.execute_workflow", RUN, WITH_PROGRESS),
        { accept },
      );
      assert.equal(response.headers.get("content-type"), "application/json");
      assert.equal((await response.json()).result.isError, false);
    }
  });
});

Deno.test("createHttpHandler() streams a call that logs, without a progress token", async () => {
  await withBridge({}, async ({ post, harness }) => {
    harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Error("bug");
    });
    const response = await post(
      toolCall("cyberos.cuo.list_personas", {}, {
        _meta: { "io.modelcontextprotocol/logLevel": "debug" },
      }),
    );
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const methods = messagesOf(await response.text()).map((m) => m.method);
    assert.deepEqual(methods, ["notifications/message", undefined]);
  });
});

Deno.test("HTTP-15 a silent call becomes a stream with signs of life", async () => {
  const handler = { limits: { streamAfterMs: 20, keepAliveMs: 20 } };
  await withBridge({ handler }, async ({ post, harness }) => {
    const gate = Promise.withResolvers<void>();
    harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
      await gate.promise;
      return [];
    });
    const response = await post(toolCall("cyberos.cuo.list_personas"));
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk);
      if (text.split(": keep-alive").length === 3) gate.resolve();
    }
    assert.equal(messagesOf(text).at(-1)?.id, 1);
  });
});

Deno.test("HTTP-22 a call goes on when its caller leaves, and the bridge stays well", async () => {
  await withBridge({}, async ({ port, post, harness }) => {
    const gate = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
      await gate.promise;
      ended.resolve();
      return [];
    });
    for (const accept of ["application/json", "text/event-stream"]) {
      const call = JSON.stringify(
        toolCall("cyberos.cuo.list_personas", {}, WITH_PROGRESS),
      );
      await sendRaw(
        port,
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${call.length}\r\n\r\n${call}`,
        100,
      );
    }
    const [left] = harness.upstreams.calls;
    assert.equal(left?.signal.aborted, false, "leaving is no cancellation");
    gate.resolve();
    await ended.promise;
    assert.equal((await (await post(PING)).json()).id, 1);
  });
});

Deno.test("HTTP-22 a call whose caller left ends at its deadline", async () => {
  const harness = { options: { callTimeoutMs: 100 } };
  await withBridge({ harness }, async ({ post, harness }) => {
    const aborted = Promise.withResolvers<void>();
    harness.upstreams.behaviours.set("cuo.listPersonas", (_, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      return new Promise(() => {});
    });
    const leaving = new AbortController();
    const call = fetchAndLeave(post, leaving.signal);
    leaving.abort();
    await call;
    await aborted.promise;
  });
});

async function fetchAndLeave(
  post: (message: unknown) => Promise<Response>,
  signal: AbortSignal,
): Promise<void> {
  const response = await post(
    toolCall("cyberos.cuo.list_personas", {}, WITH_PROGRESS),
  );
  if (signal.aborted) await response.body?.cancel();
}

Deno.test("openEventStream() drops notifications that a stalled reader does not take, never the answer", async () => {
  const stream = openEventStream(60_000);
  const big = JSON.stringify("x".repeat(100_000));
  for (let index = 0; index < 50; index++) stream.notify(big);
  stream.finish('"answer"');
  await stream.closed;
  stream.notify('"late"');
  stream.finish('"twice"');
  const text = await new Response(stream.body).text();
  assert(text.length < 1_200_000, `${text.length}`);
  assert(text.endsWith('data: "answer"\n\n'));
});

Deno.test("openEventStream() ends quietly when its reader has gone", async () => {
  const stream = openEventStream(60_000);
  await stream.body.cancel();
  await stream.closed;
  stream.notify('"x"');
  stream.finish('"x"');
});
