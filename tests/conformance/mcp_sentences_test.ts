/** One test per sentence of MCP 2025-11-25 and JSON-RPC 2.0 that a tools server must keep. */
import assert from "node:assert/strict";
import { untilAborted } from "../../bridge/wire/deadline.ts";
import {
  CONFIRMED,
  Harness,
  type Loose,
  RUN,
} from "../support/bridge_harness.ts";
import { StdioClient } from "../support/stdio_client.ts";

interface Sentence {
  readonly id: string;
  /** Below the specification's address, or a whole one. */
  readonly source: string;
  readonly text: string;
  readonly holds: () => Promise<void>;
}

const MCP = "https://modelcontextprotocol.io/specification/2025-11-25/";
const JSON_RPC = "https://www.jsonrpc.org/specification";
const EXECUTE = "cyberos.cuo.execute_workflow";

async function connected(
  use: (client: StdioClient) => Promise<void>,
  capabilities = {},
): Promise<void> {
  const client = new StdioClient();
  await client.initialize(capabilities);
  await use(client);
  await client.close();
}

async function startTask(harness: Harness): Promise<Loose> {
  return (await harness.tool(EXECUTE, RUN, { task: {} })).result.task;
}

const SENTENCES: readonly Sentence[] = [
  {
    id: "JSONRPC-4.1",
    source: `${JSON_RPC}#notification`,
    text: "The Server MUST NOT reply to a Notification",
    holds: async () => {
      const harness = new Harness();
      const answer = await harness.answer({ jsonrpc: "2.0", method: "nope" });
      assert.equal(answer, undefined);
    },
  },
  {
    id: "JSONRPC-5-ID",
    source: `${JSON_RPC}#response_object`,
    text: "If there was an error in detecting the id it MUST be Null",
    holds: async () => {
      const { id, error } = await new Harness().send({ id: {} });
      assert.equal(id, null);
      assert.equal(error.code, -32600);
    },
  },
  {
    id: "JSONRPC-5-EITHER",
    source: `${JSON_RPC}#response_object`,
    text: "Either the result member or error member MUST be included, not both",
    holds: async () => {
      const harness = new Harness();
      for (const method of ["ping", "nope"]) {
        const response = await harness.request(method);
        assert.notEqual("result" in response, "error" in response);
      }
    },
  },
  {
    id: "BASE-ID-NULL",
    source: "basic#requests",
    text: "Unlike base JSON-RPC, the ID MUST NOT be null",
    holds: async () => {
      const message = { jsonrpc: "2.0", id: null, method: "ping" };
      const { error } = await new Harness().send(message);
      assert.equal(error.code, -32600);
    },
  },
  {
    id: "BASE-ID-ECHO",
    source: "basic#responses",
    text:
      "Responses MUST include the same ID as the request they correspond to",
    holds: async () => {
      for (const id of [0, "", "a", 12]) {
        const message = { jsonrpc: "2.0", id, method: "ping" };
        assert.equal((await new Harness().send(message)).id, id);
      }
    },
  },
  {
    id: "BASE-ERROR-CODE",
    source: "basic#responses",
    text: "Error codes MUST be integers",
    holds: async () => {
      const { error } = await new Harness().request("nope");
      assert.ok(Number.isSafeInteger(error.code));
    },
  },
  {
    id: "LIFECYCLE-FIRST",
    source: "basic/lifecycle#initialization",
    text: "The initialization phase MUST be the first interaction",
    holds: async () => {
      const client = new StdioClient();
      const { error } = await client.request("tools/list");
      assert.equal(error.code, -32600);
      await client.close();
    },
  },
  {
    id: "LIFECYCLE-PING",
    source: "basic/lifecycle#initialization",
    text:
      "The client SHOULD NOT send requests other than pings before the server has responded to initialize",
    holds: async () => {
      const client = new StdioClient();
      await client.settled();
      await client.close();
    },
  },
  {
    id: "LIFECYCLE-VERSION-SAME",
    source: "basic/lifecycle#version-negotiation",
    text:
      "If the server supports the requested protocol version, it MUST respond with the same version",
    holds: () =>
      connected((client) => {
        const [answer] = client.received;
        assert.equal(answer.result.protocolVersion, "2025-11-25");
        return Promise.resolve();
      }),
  },
  {
    id: "LIFECYCLE-VERSION-OTHER",
    source: "basic/lifecycle#version-negotiation",
    text:
      "Otherwise, the server MUST respond with another protocol version it supports",
    holds: async () => {
      const { result } = await new Harness().request("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "codex", version: "0.171.0" },
      });
      assert.equal(result.protocolVersion, "2025-11-25");
    },
  },
  {
    id: "LIFECYCLE-SHUTDOWN",
    source: "basic/lifecycle#stdio",
    text:
      "The client SHOULD initiate shutdown by closing the input stream and waiting for the server to exit",
    holds: async () => {
      const client = new StdioClient();
      await client.initialize();
      const begun = performance.now();
      await client.close();
      assert.ok(performance.now() - begun < 2000);
    },
  },
  {
    id: "STDIO-NEWLINES",
    source: "basic/transports#stdio",
    text:
      "Messages are delimited by newlines, and MUST NOT contain embedded newlines",
    holds: () =>
      connected(async (client) => {
        await client.tool("cyberos.cuo.list_workflows", {
          persona: "chief-technology-officer",
        });
        for (const line of client.text.join("").trimEnd().split("\n")) {
          assert.equal(typeof JSON.parse(line), "object");
        }
      }),
  },
  {
    id: "STDIO-ONLY-MCP",
    source: "basic/transports#stdio",
    text:
      "The server MUST NOT write anything to its stdout that is not a valid MCP message",
    // The client of the tests checks each line against the schema.
    holds: () =>
      connected(async (client) => {
        client.sendText("garbage\n");
        await client.settled();
      }),
  },
  {
    id: "CANCEL-STOP",
    source: "basic/utilities/cancellation#behavior-requirements",
    text:
      "Receivers of cancellation SHOULD stop processing, free resources, and not send a response",
    holds: () =>
      connected(async (client) => {
        const { upstreams } = client.harness;
        upstreams.behaviours.set("cuo.route", (_, { signal }) =>
          untilAborted(new Promise(() => {}), signal));
        client.send({
          jsonrpc: "2.0",
          id: 5,
          method: "tools/call",
          params: { name: "cyberos.cuo.route", arguments: { query: "x" } },
        });
        await client.settled();
        client.send({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 5 },
        });
        await client.settled();
        assert.ok(upstreams.calls[0]?.signal.aborted);
        assert.ok(
          !client.received.some(({ id }) =>
            id === 5
          ),
        );
      }),
  },
  {
    id: "CANCEL-UNKNOWN",
    source: "basic/utilities/cancellation#error-handling",
    text: "Invalid cancellation notifications SHOULD be ignored",
    holds: () =>
      connected(async (client) => {
        for (const params of [{ requestId: 99 }, { requestId: null }, {}]) {
          client.send({
            jsonrpc: "2.0",
            method: "notifications/cancelled",
            params,
          });
        }
        await client.settled();
        assert.equal(client.received.length, 2);
      }),
  },
  {
    id: "PING-PROMPT",
    source: "basic/utilities/ping#behavior-requirements",
    text: "The receiver MUST respond promptly with an empty response",
    holds: async () => {
      assert.deepEqual((await new Harness().request("ping")).result, {});
    },
  },
  {
    id: "PROGRESS-TOKEN",
    source: "basic/utilities/progress#behavior-requirements",
    text:
      "Progress notifications MUST only reference tokens provided in an active request",
    holds: async () => {
      const harness = new Harness();
      await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 });
      assert.deepEqual(harness.notified, []);
      await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 }, {
        meta: { progressToken: "mine" },
      });
      assert.ok(harness.notified.length > 0);
      for (const { params } of harness.notified) {
        assert.equal(params["progressToken"], "mine");
      }
    },
  },
  {
    id: "PROGRESS-INCREASES",
    source: "basic/utilities/progress#progress-flow",
    text:
      "The progress value MUST increase with each notification, even if the total is unknown",
    holds: async () => {
      const harness = new Harness();
      harness.upstreams.behaviours.set(
        "cuo.executeWorkflow",
        (_, run: Loose) => {
          for (const step of [3, 3, 1, 4]) run.onProgress({ step });
          return {};
        },
      );
      await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 }, {
        meta: { progressToken: 1 },
      });
      const steps = harness.notified.map(({ params }) => params["progress"]);
      assert.deepEqual(steps, [3, 4]);
    },
  },
  {
    id: "LOGGING-CAPABILITY",
    source: "server/utilities/logging#capabilities",
    text:
      "Servers that emit log message notifications MUST declare the logging capability",
    holds: () =>
      connected((client) => {
        assert.deepEqual(client.received[0].result.capabilities.logging, {});
        return Promise.resolve();
      }),
  },
  {
    id: "LOGGING-INVALID",
    source: "server/utilities/logging#error-handling",
    text: "Invalid log level: -32602 (Invalid params)",
    holds: async () => {
      const { error } = await new Harness().request("logging/setLevel", {
        level: "loud",
      });
      assert.equal(error.code, -32602);
    },
  },
  {
    id: "TOOLS-CAPABILITY",
    source: "server/tools#capabilities",
    text: "Servers that support tools MUST declare the tools capability",
    holds: () =>
      connected((client) => {
        const { tools } = client.received[0].result.capabilities;
        assert.deepEqual(tools, { listChanged: false });
        return Promise.resolve();
      }),
  },
  {
    id: "TOOLS-NAMES",
    source: "server/tools#tool-names",
    text:
      "Tool names SHOULD be between 1 and 128 characters of A-Z, a-z, 0-9, underscore, hyphen and dot, and unique",
    holds: async () => {
      const { result } = await new Harness().request("tools/list");
      const names = result.tools.map(({ name }: Loose) => name);
      assert.equal(new Set(names).size, names.length);
      for (const name of names) assert.match(name, /^[A-Za-z0-9_.-]{1,128}$/);
    },
  },
  {
    id: "TOOLS-STRUCTURED",
    source: "server/tools#output-schema",
    text:
      "Servers MUST provide structured results that conform to the output schema",
    // The harness validates every structuredContent against its schema.
    holds: async () => {
      const harness = new Harness();
      const calls: [string, Loose][] = [
        ["cyberos.cuo.list_personas", {}],
        ["cyberos.cuo.route", { query: "x" }],
        ["cyberos.memory.read_audit", {}],
        ["cyberos.skill.list_catalog", {}],
        [EXECUTE, { ...RUN, wait_seconds: 5 }],
      ];
      for (const [name, args] of calls) {
        const { result } = await harness.tool(name, args);
        assert.ok(result.structuredContent);
      }
    },
  },
  {
    id: "TOOLS-TEXT-TOO",
    source: "server/tools#structured-content",
    text:
      "A tool that returns structured content SHOULD also return the serialized JSON in a TextContent block",
    holds: async () => {
      const { result } = await new Harness().tool("cyberos.cuo.list_personas");
      assert.deepEqual(
        JSON.parse(result.content[0].text),
        result.structuredContent,
      );
    },
  },
  {
    id: "TOOLS-UNKNOWN",
    source: "server/tools#error-handling",
    text: "Unknown tools are protocol errors with code -32602",
    holds: async () => {
      const { error } = await new Harness().tool("invalid_tool_name");
      assert.equal(error.code, -32602);
    },
  },
  {
    id: "TOOLS-VALIDATE",
    source: "server/tools#security-considerations",
    text: "Servers MUST validate all tool inputs",
    holds: async () => {
      const harness = new Harness();
      await harness.tool("cyberos.cuo.route", { query: 1 });
      assert.deepEqual(harness.upstreams.calls, []);
    },
  },
  {
    id: "TOOLS-ACCESS",
    source: "server/tools#security-considerations",
    text: "Servers MUST implement proper access controls",
    holds: async () => {
      const harness = new Harness();
      harness.caller = () => ({
        subject: "s",
        tenantId: "11111111-1111-4111-8111-111111111111",
        scopes: new Set(),
      });
      const { tools } = (await harness.request("tools/list")).result;
      for (const { name } of tools) {
        const { error } = await harness.tool(name, {}, { meta: CONFIRMED });
        assert.equal(error.data.class, "authz_denied");
      }
      assert.equal(harness.loads, 0);
    },
  },
  {
    id: "ELICIT-DECLARED",
    source: "client/elicitation#capabilities",
    text:
      "Servers MUST NOT send elicitation requests to clients that did not declare the capability",
    holds: () =>
      connected(async (client) => {
        await client.tool("cyberos.memory.append_audit", {
          kind: "k",
          body: {},
        });
        assert.ok(client.received.every(({ method }) => method === undefined));
      }),
  },
  {
    id: "TASKS-CREATE",
    source: "basic/utilities/tasks#creating-tasks",
    text: "The receiver MUST return a CreateTaskResult as soon as possible",
    holds: async () => {
      const harness = new Harness();
      const task = await startTask(harness);
      assert.equal(task.status, "working");
      await harness.tasks.idle();
    },
  },
  {
    id: "TASKS-FORBIDDEN",
    source: "basic/utilities/tasks#tool-level-negotiation",
    text:
      "If taskSupport is not present or forbidden, servers SHOULD return -32601 to a task request",
    holds: async () => {
      const { error } = await new Harness().tool(
        "cyberos.cuo.list_personas",
        {},
        { task: {} },
      );
      assert.equal(error.code, -32601);
    },
  },
  {
    id: "TASKS-TTL",
    source: "basic/utilities/tasks#ttl-and-resource-management",
    text:
      "Receivers MUST include the actual ttl duration in tasks/get responses",
    holds: async () => {
      const harness = new Harness();
      const { taskId } = await startTask(harness);
      await harness.tasks.idle();
      const { result } = await harness.request("tasks/get", { taskId });
      assert.ok(Number.isSafeInteger(result.ttl));
    },
  },
  {
    id: "TASKS-RESULT-BLOCKS",
    source: "basic/utilities/tasks#result-retrieval",
    text:
      "tasks/result MUST block until the task reaches a terminal status, then return what the request would have",
    holds: async () => {
      const harness = new Harness();
      const { taskId } = await startTask(harness);
      const { result } = await harness.request("tasks/result", { taskId });
      assert.equal(result.structuredContent.status, "completed");
    },
  },
  {
    id: "TASKS-RELATED",
    source: "basic/utilities/tasks#associating-task-related-messages",
    text:
      "The tasks/result response MUST include io.modelcontextprotocol/related-task in its _meta",
    holds: async () => {
      const harness = new Harness();
      const { taskId } = await startTask(harness);
      const { result } = await harness.request("tasks/result", { taskId });
      assert.deepEqual(
        result._meta["io.modelcontextprotocol/related-task"],
        { taskId },
      );
    },
  },
  {
    id: "TASKS-CANCEL-TERMINAL",
    source: "basic/utilities/tasks#task-cancellation",
    text:
      "Receivers MUST reject cancellation of tasks in a terminal status with -32602",
    holds: async () => {
      const harness = new Harness();
      const { taskId } = await startTask(harness);
      await harness.tasks.idle();
      const { error } = await harness.request("tasks/cancel", { taskId });
      assert.equal(error.code, -32602);
    },
  },
  {
    id: "TASKS-NOT-FOUND",
    source: "basic/utilities/tasks#protocol-errors",
    text: "Invalid or nonexistent taskId: -32602 (Invalid params)",
    holds: async () => {
      const harness = new Harness();
      for (const verb of ["get", "result", "cancel"]) {
        const { error } = await harness.request(`tasks/${verb}`, {
          taskId: "t-none",
        });
        assert.equal(error.code, -32602);
      }
    },
  },
  {
    id: "TASKS-CURSOR",
    source: "basic/utilities/tasks#protocol-errors",
    text: "Invalid or nonexistent cursor in tasks/list: -32602",
    holds: async () => {
      const { error } = await new Harness().request("tasks/list", {
        cursor: "nope",
      });
      assert.equal(error.code, -32602);
    },
  },
];

for (const { id, source, text, holds } of SENTENCES) {
  const link = source.startsWith("https:") ? source : MCP + source;
  Deno.test(`${id} ${text} (${link})`, holds);
}
