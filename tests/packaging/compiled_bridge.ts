/** `cyberos-mcp-bridge` as a compiled program, over stdio and HTTP. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import assert from "node:assert/strict";
import { TOOLS } from "../../schema/tools.ts";
import { emptyDir, runAlone } from "./compiled.ts";
import { EIGHT_CALLS } from "./eight_calls.ts";

const NAMES = TOOLS.map(({ name }) => name as string);

/** An environment that the program can do nothing with; the SDK would add the tester's own. */
const BARE = { HOME: "", LOGNAME: "", PATH: "", SHELL: "", TERM: "", USER: "" };

async function connect(
  program: string,
  args: string[],
  cwd: string,
): Promise<Client> {
  const client = new Client({ name: "compiled", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({
      command: program,
      args,
      cwd,
      env: { ...BARE, CYBEROS_LOG_LEVEL: "error" },
      stderr: "inherit",
    }),
  );
  return client;
}

async function callAll(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool: { name: string }) => tool.name), NAMES);
  assert.deepEqual(
    EIGHT_CALLS.map(({ name }) => name).sort(),
    [...NAMES].sort(),
  );
  for (const { name, args, check } of EIGHT_CALLS) {
    const result = await client.callTool({
      name,
      arguments: args,
      _meta: { "mcp/sampling/elicit_confirm": true },
    });
    check(result.structuredContent as Record<string, unknown>);
  }
}

async function lastLine(
  stream: ReadableStream<Uint8Array>,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream.values({ preventCancel: true })) {
    text += decoder.decode(chunk, { stream: true });
    const found = pattern.exec(text);
    if (found !== null) return found;
  }
  throw new Error(`Ended without ${pattern}: ${text}`);
}

/** Each check by the title of its step. */
export const BRIDGE_CHECKS: Readonly<
  Record<string, (program: string) => Promise<void>>
> = {
  "PKG-02 cyberos-mcp-bridge says its version and refuses what it does not know":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const at = { cwd: dir.path };
      const { stdout } = await runAlone(program, ["--version"], at);
      assert.match(stdout, /^cyberos-mcp-bridge \d+\.\d+\.\d+\n$/);
      assert.equal((await runAlone(program, ["--wrong"], at)).code, 2);
    },
  "PKG-04 cyberos-mcp-bridge lists its tools with nothing configured, and writes nothing but the protocol":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const lines = [
        {
          id: 1,
          method: "initialize",
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "compiled", version: "1" },
          },
        },
        { method: "notifications/initialized" },
        { id: 2, method: "tools/list" },
        {
          id: 3,
          method: "tools/call",
          params: { name: "cyberos.cuo.list_personas", arguments: {} },
        },
      ].map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
      const { code, stdout } = await runAlone(program, [], {
        cwd: dir.path,
        stdin: lines.join(""),
      });
      assert.equal(code, 0);
      const answers = stdout.trim().split("\n").map((line) => JSON.parse(line));
      assert.deepEqual(answers.map(({ id }) => id).sort(), [1, 2, 3]);
      const listed = answers.find(({ id }) => id === 2).result.tools;
      assert.equal(listed.length, 8);
      assert.match(
        answers.find(({ id }) => id === 3).error.data.hint,
        /CYBEROS_TOKEN_FILE/,
      );
    },
  "PKG-02 cyberos-mcp-bridge answers all 8 tools embedded, on stdio, keeping nothing":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const client = await connect(
        program,
        ["--embedded", "--ephemeral"],
        dir.path,
      );
      await callAll(client);
      await client.close();
      assert.deepEqual([...Deno.readDirSync(dir.path)], []);
    },
  "PKG-02 cyberos-mcp-bridge keeps embedded data in its folder and finds it again":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const args = ["--embedded", `--data-dir=${dir.path}/data`];
      const first = await connect(program, args, dir.path);
      await callAll(first);
      await first.close();
      const second = await connect(program, args, dir.path);
      const { structuredContent } = await second.callTool({
        name: "cyberos.memory.read_audit",
        arguments: { limit: 500 },
      });
      const { rows } = structuredContent as { rows: unknown[] };
      assert.ok(rows.length > 0, "the rows of the first run");
      await second.close();
    },
  "PKG-02 cyberos-mcp-bridge runs each of its other commands": async (
    program,
  ) => {
    await using dir = await emptyDir();
    const at = { cwd: dir.path };
    const data = ["--embedded", `--data-dir=${dir.path}/data`];
    const checked = await runAlone(program, ["check", ...data, "--json"], at);
    assert.equal(checked.code, 0, checked.stdout);
    assert.equal(JSON.parse(checked.stdout).ready, true);
    const token = await runAlone(program, ["token", ...data], at);
    assert.match(token.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/, token.stderr);
    const reset = await runAlone(program, ["reset", ...data, "--yes"], at);
    assert.equal(reset.code, 0, reset.stderr);
    const left = [...Deno.readDirSync(dir.path)].flatMap((
      { name },
    ) => [...Deno.readDirSync(`${dir.path}/${name}`)]);
    assert.deepEqual(left.filter(({ name }) => name !== "lock"), []);
    const migrated = await runAlone(program, ["migrate"], at);
    assert.equal(migrated.code, 2);
    assert.match(migrated.stderr, /CYBEROS_OWNER_DATABASE_URL/);
    const health = await runAlone(program, ["health"], at);
    assert.notEqual(health.code, 70);
  },
  "PKG-02 cyberos-mcp-bridge serves HTTP embedded, is healthy, and takes a printed token":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const child = new Deno.Command(program, {
        args: [
          ...["--embedded", "--ephemeral", "--transport=http"],
          "--listen=127.0.0.1:0",
        ],
        cwd: dir.path,
        clearEnv: true,
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      try {
        const [, url, token] = await lastLine(
          child.stderr,
          /(http:\/\/127\.0\.0\.1:\d+\/mcp)[\s\S]*?(eyJ[\w-]+\.[\w-]+\.[\w-]+)/,
        );
        const { host } = new URL(url as string);
        const health = await runAlone(program, ["health", `--listen=${host}`], {
          cwd: dir.path,
        });
        assert.equal(health.code, 0, health.stderr);
        const call = (headers: Record<string, string>) =>
          fetch(url as string, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              ...headers,
            },
            body: JSON.stringify({
              jsonrpc: "2.0",
              id: 1,
              method: "tools/call",
              params: { name: "cyberos.cuo.list_personas", arguments: {} },
            }),
          });
        const refused = await call({});
        assert.equal(refused.status, 401);
        await refused.body?.cancel();
        const answered = await call({ authorization: `Bearer ${token}` });
        assert.equal(answered.status, 200);
        const { result } = await answered.json();
        assert.ok(result.structuredContent.personas.length > 0);
      } finally {
        child.kill("SIGTERM");
        await child.stderr.cancel();
        assert.equal((await child.status).code, 0, "ends in good order");
      }
    },
};
