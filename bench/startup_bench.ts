/** From spawning the bridge to its answer to `initialize`. */
import type { Bench } from "./row.ts";
import { helloWorld, npmPeers, paired, processMs, ROOT } from "./support.ts";

const RUNS = 15;
const INITIALIZE = `${
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    },
  })
}\n`;

/** Milliseconds from spawn until the first whole line of stdout. */
export async function firstAnswerMs(
  command: string,
  args: readonly string[],
): Promise<number> {
  const began = performance.now();
  const child = new Deno.Command(command, {
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(INITIALIZE));
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${command} ended without an answer`);
    text += new TextDecoder().decode(value);
  }
  const took = performance.now() - began;
  if (!text.includes(`"protocolVersion"`)) {
    throw new Error(`unexpected answer: ${text.slice(0, 200)}`);
  }
  await writer.close();
  await reader.cancel();
  child.kill("SIGKILL");
  await child.status;
  return took;
}

/** The flags of the `bridge` task, without its program. */
async function bridgeArgs(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const words = (tasks.bridge.command as string).replaceAll("'", "").split(
    /\s+/,
  );
  return words.slice(1, -1).concat(
    `${ROOT}bridge/main.ts`,
    "--embedded",
    "--ephemeral",
  );
}

/** Spawn to first answer: beside a hello world, and beside the reference server on Node. */
export const bench: Bench = async (report) => {
  const deno = Deno.execPath();
  const hello = await helloWorld();
  const args = await bridgeArgs();
  const ours = () => firstAnswerMs(deno, args);
  const floor = await paired(
    RUNS,
    ours,
    () => processMs(deno, ["run", "--quiet", "--no-prompt", hello]),
  );
  report({
    name: "spawn to `initialize`, beside a Deno hello world",
    ...floor,
    unit: "ms",
    aim: "at most 4×",
  });
  const peers = await npmPeers(["@modelcontextprotocol/server-everything"]);
  const everything =
    `${peers}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`;
  const peer = await paired(
    RUNS,
    ours,
    () => firstAnswerMs("node", [everything, "stdio"]),
  );
  report({
    name: "spawn to `initialize`, beside server-everything on Node",
    ...peer,
    unit: "ms",
    aim: "at most 0.5×",
  });
};
