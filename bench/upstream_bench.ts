/** What the upstream clients add to the bare pipe, socket and disk below them. */
import { createEmbedded } from "../bridge/upstream/embedded/embedded.ts";
import { createCuo } from "../bridge/upstream/cuo/cuo.ts";
import { createMemory } from "../bridge/upstream/memory/memory.ts";
import { installFakeCuo } from "../tests/support/fake_cuo/install.ts";
import { UpstreamBench } from "../tests/support/upstream_context.ts";
import type { Bench } from "./row.ts";
import { paired, ROOT } from "./support.ts";

const CALLS = 200;
const ROUNDS = 5;
const SCANS = 7;
const SKILLS = 248;
const QUERY =
  "Architect a new payment routing system for Southeast Asian markets";

/** Reports a row per upstream. */
export const bench: Bench = async (report) => {
  await cuoPipe(report);
  await memoryHttp(report);
  await skillsScan(report);
  await embeddedRoute(report);
};

type Report = Parameters<Bench>[0];

/** Milliseconds of one call, over many in turn. */
async function perCall(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < CALLS; n++) await call();
  return (performance.now() - start) / CALLS;
}

async function cuoPipe(report: Report): Promise<void> {
  const fake = await installFakeCuo();
  const calls = new UpstreamBench();
  const options = {
    program: fake.program,
    root: fake.root,
    environment: Deno.env.toObject(),
    telemetry: calls.telemetry,
    log: calls.log,
    clock: calls.clock,
  };
  const cuo = createCuo({ ...options, protocol: "jsonrpc" });
  const pipe = new BarePipe(fake.program, fake.root);
  const context = calls.context();
  const short = await paired(
    ROUNDS,
    () => perCall(() => cuo.route("x", context)),
    () => perCall(() => pipe.roundTrip()),
  );
  report({
    name: "CUO route over the shared child, beside its bare pipe",
    ...short,
    unit: "ms",
    aim: "adds under 1 ms to the pipe",
  });
  const cli = createCuo({ ...options, protocol: "cli" });
  const once = async (call: () => Promise<unknown>) => {
    const start = performance.now();
    await call();
    return performance.now() - start;
  };
  const shared = await paired(
    ROUNDS,
    () => once(() => cuo.route("x", context)),
    () => once(() => cli.route("x", context)),
  );
  report({
    name: "CUO route over the shared child, beside a process a call",
    ...shared,
    unit: "ms",
    aim: "at most a tenth",
  });
  await Promise.all([cuo.close(), cli.close(), pipe.close()]);
  await fake.remove();
}

/** The fake's own protocol over nothing but its pipes. */
class BarePipe {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #line: Uint8Array<ArrayBuffer>;

  constructor(program: string, root: string) {
    this.#process = new Deno.Command(program, {
      args: ["rpc"],
      env: { CYBEROS_ROOT: root },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#reader = this.#process.stdout.getReader();
    this.#line = new TextEncoder().encode(
      `${
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "route",
          params: { query: "x" },
        })
      }\n`,
    );
  }

  async roundTrip(): Promise<void> {
    await this.#writer.write(this.#line);
    await this.#reader.read();
  }

  async close(): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#process.status;
  }
}

async function memoryHttp(report: Report): Promise<void> {
  const rows = Array.from({ length: 50 }, (_, seq) => ({
    seq,
    kind: "decision",
    actor_id: "user-1",
    body: { text: "a decision of a hundred characters or so ".repeat(3) },
  }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => Response.json({ rows, next_seq: null }),
  );
  const endpoint = `http://127.0.0.1:${server.addr.port}`;
  const calls = new UpstreamBench();
  const { telemetry, log, clock } = calls;
  const memory = createMemory({ endpoint, telemetry, log, clock });
  const context = calls.context();
  const read = await paired(
    ROUNDS,
    () => perCall(() => memory.readAudit({ limit: 50 }, context)),
    () =>
      perCall(async () => await (await fetch(`${endpoint}/v1/audit`)).json()),
  );
  report({
    name: "memory read_audit of 50 rows, beside a bare fetch",
    ...read,
    unit: "ms",
    aim: "adds under 1 ms to the fetch",
  });
  await server.shutdown();
}

async function skillsScan(report: Report): Promise<void> {
  const folder = await Deno.makeTempDir();
  for (let n = 0; n < SKILLS; n++) {
    await Deno.mkdir(`${folder}/skill-${n}`);
    await Deno.writeTextFile(`${folder}/skill-${n}/SKILL.md`, skillText(n));
  }
  const run = async (mode: string) => {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--quiet",
        `${ROOT}bench/skills_scan.ts`,
        mode,
        folder,
      ],
      stderr: "inherit",
    }).output();
    return Number(new TextDecoder().decode(stdout));
  };
  const cold = await paired(SCANS, () => run("scan"), () => run("read"));
  report({
    name: `skills: ${SKILLS} scanned cold, beside reading the files`,
    ...cold,
    unit: "ms",
    aim: "under 200 ms",
  });
  await Deno.remove(folder, { recursive: true });
}

/** As long, and as rich in its head, as CyberOS's own. */
function skillText(n: number): string {
  const list = (name: string) =>
    `${name}:\n${"  - project:one\n  - {a: 1, b: [x, y]}\n".repeat(20)}`;
  return `---
name: skill-${n}
description: >-
  Writes document number ${n} of the catalogue from what is given, and hands it
  on. Use when asked to "write ${n}", "draft ${n}" or "prepare ${n}".
license: Apache-2.0
metadata:
  version: 1.0.0
${["expects", "produces", "audit", "escalation"].map(list).join("")}---

${"A paragraph of instructions for this skill.\n".repeat(200)}`;
}

async function embeddedRoute(report: Report): Promise<void> {
  const calls = new UpstreamBench();
  const { telemetry, log, clock } = calls;
  const { cuo } = createEmbedded({
    sql: () => Promise.reject(new Error("not needed here")),
    pluginId: "cyberos",
    telemetry,
    log,
    clock,
  });
  const context = calls.context();
  const words = QUERY.toLowerCase().split(" ");
  const personas = await cuo.listPersonas(context);
  const route = await paired(
    ROUNDS,
    () => perCall(() => cuo.route(QUERY, context)),
    // The floor: looking for the same words in the same texts, and no ranking at all.
    () =>
      perCall(() =>
        Promise.resolve(
          personas.filter(({ description = "" }) =>
            words.some((word) => description.includes(word))
          ),
        )
      ),
  );
  report({
    name: "embedded route, beside a search for its words in 47 texts",
    ...route,
    unit: "ms",
    aim: "under 5 ms",
  });
}
