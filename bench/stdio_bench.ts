/** A tool call there and back through real pipes. */
import type { Bench } from "./row.ts";
import { median, npmPeers, ROOT } from "./support.ts";

const WARM_UP = 300;
const CALLS = 2000;
const ROUNDS = 3;

/** A stdio server with one line in flight at a time. */
class Peer {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  #text = "";
  #id = 0;

  constructor(command: string, args: readonly string[]) {
    this.#child = new Deno.Command(command, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.getReader();
  }

  /** Sends a request and takes lines until its answer, as a server may say more than that. */
  async roundTrip(method: string, params: unknown): Promise<void> {
    const id = ++this.#id;
    await this.#writer.write(
      this.#encoder.encode(
        `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`,
      ),
    );
    const answer = `"id":${id}`;
    while (!this.#text.includes(answer) || !this.#text.endsWith("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("the server has ended");
      this.#text += this.#decoder.decode(value, { stream: true });
    }
    if (this.#text.includes('"error":')) throw new Error(this.#text);
    this.#text = "";
  }

  async initialize(): Promise<void> {
    await this.roundTrip("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    });
  }

  async close(): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    this.#child.kill("SIGKILL");
    await this.#child.status;
  }
}

async function microseconds(peer: Peer, params: unknown): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const began = performance.now();
    await peer.roundTrip("tools/call", params);
    times.push(performance.now() - began);
  }
  return median(times) * 1000;
}

async function bridgeArgs(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const words = (tasks.bridge.command as string).replaceAll("'", "")
    .split(/\s+/);
  return words.slice(1, -1).concat(
    `${ROOT}bridge/main.ts`,
    "--embedded",
    "--ephemeral",
  );
}

/** Round trips of the bridge's tool call beside the reference server's echo. */
export const bench: Bench = async (report) => {
  const peers = await npmPeers(["@modelcontextprotocol/server-everything"]);
  const everything =
    `${peers}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`;
  const ours = new Peer(Deno.execPath(), await bridgeArgs());
  const theirs = new Peer("node", [everything, "stdio"]);
  try {
    await ours.initialize();
    await theirs.initialize();
    const short = {
      name: "cyberos.skill.list_catalog",
      arguments: { limit: 1 },
    };
    const echo = { name: "echo", arguments: { message: "hello" } };
    for (let n = 0; n < WARM_UP; n++) {
      await ours.roundTrip("tools/call", short);
      await theirs.roundTrip("tools/call", echo);
    }
    const mine: number[] = [];
    const peer: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      mine.push(await microseconds(ours, short));
      peer.push(await microseconds(theirs, echo));
    }
    report({
      name: "tools/call over stdio, there and back, beside server-everything",
      ours: median(mine),
      peer: median(peer),
      unit: "µs",
      aim: "at most 0.33×",
    });
  } finally {
    await ours.close();
    await theirs.close();
  }
};
