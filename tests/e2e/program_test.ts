import assert from "node:assert/strict";
import { VERSION } from "../../schema/version.ts";
import { runBridge } from "./bridge_process.ts";

const INITIALIZE = `${
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "e2e", version: "1.0.0" },
    },
  })
}\n`;

const CALL = `${
  JSON.stringify({
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "cyberos.cuo.list_personas", arguments: {} },
  })
}\n`;

interface Line {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly data: {
      readonly class: string;
      readonly hint: string;
      readonly trace_id: string;
    };
  };
}

function lines(stdout: string): Line[] {
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("the version is the release's in code and deno.json", async () => {
  const path = new URL("../../deno.json", import.meta.url);
  assert.equal(JSON.parse(await Deno.readTextFile(path)).version, VERSION);
  const { code, stdout } = await runBridge(["--version"]);
  assert.equal(code, 0);
  assert.equal(stdout, `cyberos-mcp-bridge ${VERSION}\n`);
});

Deno.test("P2-AC20 stdio answers on stdout, binds no port and ends with stdin", async () => {
  const { code, stdout, stderr } = await runBridge([], { stdin: INITIALIZE });
  assert.equal(code, 0, stderr);
  const [answer, ...rest] = lines(stdout);
  assert.equal(rest.length, 0);
  assert.equal(answer?.result?.["protocolVersion"], "2025-11-25");
});

Deno.test("without a token or configuration stdio starts, and a call says what to do", async () => {
  const { code, stdout } = await runBridge([], { stdin: INITIALIZE + CALL });
  assert.equal(code, 0);
  const error = lines(stdout)[1]?.error;
  assert.equal(error?.code, -32000);
  assert.equal(error?.data.class, "authz_denied");
  assert.match(error?.data.hint ?? "", /CYBEROS_TOKEN_FILE/);
  assert.match(error?.data.trace_id ?? "", /^[0-9a-f]{32}$/);
});

Deno.test("a wrong value in the environment is said in the call's answer on stdio", async () => {
  const { stdout } = await runBridge([], {
    stdin: INITIALIZE + CALL,
    env: { MEMORY_ENDPOINT: "ftp://memory" },
  });
  const error = lines(stdout)[1]?.error;
  assert.equal(error?.data.class, "upstream_unavailable");
  assert.match(error?.data.hint ?? "", /MEMORY_ENDPOINT/);
});

Deno.test("wrong flags and unknown commands are usage errors, and say which", async () => {
  for (
    const [args, words] of [
      [["--nope"], /--nope/],
      [["fly"], /"fly"/],
      [["--transport", "pigeon"], /--transport.*stdio, http/],
      [["--listen", "everywhere", "--transport=http"], /--listen/],
      [["--embedded", "--transport=http", "--listen=0.0.0.0:0"], /loopback/],
      [["token"], /--embedded/],
      [["token", "--embedded", "--ephemeral"], /--ephemeral/],
      [["reset"], /--embedded/],
    ] as const
  ) {
    const { code, stdout, stderr } = await runBridge(args);
    assert.equal(code, 2, args.join(" "));
    assert.equal(stdout, "");
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /\bat .*:\d+:\d+/, "no stack");
  }
});

Deno.test("http without its configuration refuses to start and lists all that is missing", async () => {
  const { code, stderr } = await runBridge(["--transport=http"], {
    env: { CYBEROS_CUO: "no-such-program" },
  });
  assert.equal(code, 2);
  for (
    const name of [
      "CYBEROS_DATABASE_URL",
      "CYBEROS_CUO",
      "SKILL_BROKER_ENDPOINT",
    ]
  ) {
    assert.ok(stderr.includes(name), name);
  }
});

Deno.test("a taken port is named, with the remedy", async () => {
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { code, stderr } = await runBridge([
    "--embedded",
    "--ephemeral",
    "--transport=http",
    `--listen=127.0.0.1:${taken.addr.port}`,
  ]);
  taken.close();
  assert.equal(code, 1);
  assert.match(stderr, /another program has the port.*--listen/);
});

Deno.test("--help names every command and setting", async () => {
  const { code, stdout } = await runBridge(["--help"]);
  assert.equal(code, 0);
  for (
    const word of [
      "serve",
      "check",
      "migrate",
      "token",
      "reset",
      "--embedded",
      "MEMORY_ENDPOINT",
    ]
  ) {
    assert.ok(stdout.includes(word), word);
  }
});
