/** The transport over real pipes, and the SDK's own client on the other end. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Loose, RUN } from "../../support/bridge_harness.ts";

const SERVER = fileURLToPath(
  new URL("../../support/stdio_server.ts", import.meta.url),
);
const ARGS = ["run", "--quiet", "--no-prompt", "--no-check", SERVER];
const INITIALIZE = `${
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  })
}\n`;

function route(id: number, query: string): string {
  return `${
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "cyberos.cuo.route", arguments: { query } },
    })
  }\n`;
}

/** A child whose pipes the test holds. */
class Child {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #rest = "";

  constructor() {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ARGS,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#reader = this.#process.stdout.getReader();
  }

  get pid(): number {
    return this.#process.pid;
  }

  async write(data: string | Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#writer.write(
      typeof data === "string" ? new TextEncoder().encode(data) : data,
    );
  }

  async read(pauseMs = 0): Promise<Loose> {
    for (;;) {
      const at = this.#rest.indexOf("\n");
      if (at !== -1) {
        const line = this.#rest.slice(0, at);
        this.#rest = this.#rest.slice(at + 1);
        return JSON.parse(line);
      }
      if (pauseMs > 0) await new Promise((next) => setTimeout(next, pauseMs));
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("stdout has ended");
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
  }

  signal(name: Deno.Signal): void {
    this.#process.kill(name);
  }

  async closeInput(): Promise<void> {
    await this.#writer.close();
  }

  async closeOutput(): Promise<void> {
    await this.#reader.cancel();
  }

  /** How it ended, and how long that took from now on. */
  async ended(): Promise<{ code: number; ms: number }> {
    const begun = performance.now();
    const { code } = await this.#process.status;
    return { code, ms: performance.now() - begun };
  }

  async end(): Promise<void> {
    await this.#writer.close().catch(() => {});
    await this.#reader.cancel().catch(() => {});
    await this.#process.status;
  }
}

/** With `used`, the child has had calls enough to poll its streams, where the runtime can. */
async function started({ used = false } = {}): Promise<Child> {
  const child = new Child();
  await child.write(INITIALIZE);
  assert.equal(
    (await child.read()).result.serverInfo.name,
    "cyberos-mcp-bridge",
  );
  for (let n = 0; used && n < 30; n++) {
    await child.write('{"jsonrpc":"2.0","id":"used","method":"ping"}\n');
    assert.equal((await child.read()).id, "used");
    await new Promise((next) => setTimeout(next, 5));
  }
  return child;
}

for (
  const [streams, used] of [["on a new connection", false], [
    "on a used connection",
    true,
  ]] as const
) {
  Deno.test(`STD-02 a frame written a byte at a time through a real pipe keeps its text, ${streams}`, async () => {
    const child = await started({ used });
    const query = "né — 𝄞 한";
    for (const byte of new TextEncoder().encode(route(1, query))) {
      await child.write(Uint8Array.of(byte));
    }
    const { result } = await child.read();
    assert.equal(result.structuredContent.rationale, query);
    await child.end();
  });

  Deno.test(`STD-19 five answers of 600,000 bytes arrive whole at a reader that is slow, ${streams}`, async () => {
    const child = await started({ used });
    for (let id = 1; id <= 5; id++) await child.write(route(id, "big 100000"));
    const ids = new Set<number>();
    for (let n = 0; n < 5; n++) {
      const { id, result } = await child.read(2);
      assert.equal(result.structuredContent.rationale.length, 100_000);
      ids.add(id);
    }
    assert.equal(ids.size, 5);
    await child.end();
  });

  Deno.test(`STD-20 a line of 100 MiB is refused once, memory stays bounded, the next request is served, ${streams}`, async () => {
    const child = await started({ used });
    const chunk = new TextEncoder().encode("a".repeat(1024 * 1024));
    for (let n = 0; n < 100; n++) await child.write(chunk);
    await child.write('\n{"jsonrpc":"2.0","id":5,"method":"ping"}\n');
    assert.equal((await child.read()).error.code, -32600);
    assert.deepEqual((await child.read()).result, {});
    const status = await Deno.readTextFile(`/proc/${child.pid}/status`)
      .catch(() => "");
    const peakKiB = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
    assert.ok(peakKiB < 250 * 1024, `peak of ${peakKiB} KiB`);
    await child.end();
  });

  for (const name of ["SIGTERM", "SIGINT"] as const) {
    Deno.test(`${name} during a call ends the process with 0 within two seconds, ${streams}`, async () => {
      const child = await started({ used });
      await child.write(route(1, "sleep 60000"));
      await child.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
      await child.read();
      child.signal(name);
      const { code, ms } = await child.ended();
      assert.equal(code, 0);
      assert.ok(ms < 2000, `${ms} ms`);
      await child.end();
    });
  }

  Deno.test(`the end of stdin during a call ends the process with 0 within two seconds, ${streams}`, async () => {
    const child = await started({ used });
    await child.write(route(1, "sleep 60000"));
    await child.closeInput();
    const { code, ms } = await child.ended();
    assert.equal(code, 0);
    assert.ok(ms < 2000, `${ms} ms`);
    await child.closeOutput();
  });

  Deno.test(`a host that closes stdout first ends the process without a word on it, ${streams}`, async () => {
    const child = await started({ used });
    await child.closeOutput();
    await child.write(route(1, "big 100000"));
    const { code, ms } = await child.ended();
    assert.equal(code, 0);
    assert.ok(ms < 2000, `${ms} ms`);
    await child.end();
  });
}

// The SDK's client leaves a timer of two seconds behind when it closes.
function sdkTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}

async function withClient(
  capabilities: Loose,
  use: (client: Client) => Promise<void>,
): Promise<void> {
  const transport = new StdioClientTransport({
    command: Deno.execPath(),
    args: ARGS,
    stderr: "ignore",
  });
  const client = new Client({ name: "sdk", version: "1" }, { capabilities });
  const problems: string[] = [];
  client.onerror = (error: Error) => problems.push(error.message);
  await client.connect(transport);
  try {
    await use(client);
  } finally {
    await client.close();
  }
  assert.deepEqual(problems, []);
}

sdkTest(
  "the SDK's own client lists and calls the tools, and validates what they answer",
  async () => {
    await withClient({}, async (client) => {
      assert.equal(client.getServerVersion()?.name, "cyberos-mcp-bridge");
      const { tools } = await client.listTools();
      assert.equal(tools.length, 8);
      await client.ping();
      const personas: Loose = await client.callTool({
        name: "cyberos.cuo.list_personas",
        arguments: {},
      });
      assert.equal(personas.structuredContent.personas.length, 1);
      await assert.rejects(
        client.callTool({ name: "cyberos.cuo.route", arguments: {} }),
        (error: Loose) =>
          error.code === -32602 && error.data.trace_id.length === 32,
      );
    });
  },
);

sdkTest(
  "the SDK's own client hears progress while it waits for a run",
  async () => {
    await withClient({}, async (client) => {
      const steps: number[] = [];
      const run: Loose = await client.callTool(
        {
          name: "cyberos.cuo.execute_workflow",
          arguments: { ...RUN, wait_seconds: 10 },
        },
        undefined,
        { onprogress: ({ progress }: Loose) => steps.push(progress) },
      );
      assert.equal(run.structuredContent.status, "completed");
      assert.deepEqual(steps, [1, 2]);
    });
  },
);

sdkTest(
  "the SDK's own client starts a task, polls it and collects its result",
  async () => {
    await withClient({}, async (client) => {
      await client.listTools();
      const kinds: string[] = [];
      let final: Loose;
      const stream = client.experimental.tasks.callToolStream(
        {
          name: "cyberos.cuo.execute_workflow",
          arguments: RUN,
        },
        undefined,
        { task: { ttl: 60_000 } },
      );
      for await (const message of stream) {
        kinds.push(message.type);
        if (message.type === "result") final = message.result;
        if (message.type === "error") throw message.error;
      }
      assert.equal(kinds[0], "taskCreated");
      assert.equal(final.structuredContent.status, "completed");
      const { tasks } = await client.experimental.tasks.listTasks();
      assert.equal(tasks.length, 1);
    });
  },
);

sdkTest(
  "P2-AC15 a real client's user accepts or declines through elicitation",
  async () => {
    await withClient({ elicitation: {} }, async (client) => {
      const actions = ["accept", "decline"] as const;
      let asked = 0;
      client.setRequestHandler(ElicitRequestSchema, (request: Loose) => {
        assert.match(request.params.message, /audit memory/);
        return Promise.resolve({ action: actions[asked++] ?? "cancel" });
      });
      const call = () =>
        client.callTool({
          name: "cyberos.memory.append_audit",
          arguments: { kind: "decision", body: {} },
        });
      const appended: Loose = await call();
      assert.equal(appended.structuredContent.seq, 1);
      await assert.rejects(call(), (error: Loose) => error.code === -32000);
      assert.equal(asked, 2);
    });
  },
);

sdkTest(
  "the SDK's own client cancels a call by its signal, and the connection goes on",
  async () => {
    await withClient({}, async (client) => {
      const stop = new AbortController();
      const call = client.callTool(
        { name: "cyberos.cuo.route", arguments: { query: "sleep 60000" } },
        undefined,
        { signal: stop.signal },
      );
      setTimeout(() => stop.abort(), 50);
      await assert.rejects(call);
      await client.ping();
    });
  },
);
