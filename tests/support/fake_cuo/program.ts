/**
 * A `cyberos-cuo` for tests: a real program that speaks both protocols of the
 * contract, and misbehaves as `fake.json` in its `CYBEROS_ROOT` says.
 *
 * It keeps the contract's word on its end: whatever it has started, it ends on
 * SIGTERM and when its stdin closes, unless it is told to be rude.
 */
import type { FakeRule, FakeScript } from "./script.ts";

const root = Deno.env.get("CYBEROS_ROOT") ?? ".";
const script: FakeScript = JSON.parse(
  Deno.readTextFileSync(`${root}/fake.json`),
);
const encoder = new TextEncoder();
const children: Deno.ChildProcess[] = [];
const args = Deno.args;

function note(entry: Record<string, unknown>): void {
  Deno.writeTextFileSync(
    `${root}/journal.ndjson`,
    `${JSON.stringify({ pid: Deno.pid, ...entry })}\n`,
    { append: true },
  );
}

function write(stream: typeof Deno.stdout, text: string): void {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += stream.writeSync(bytes.subarray(at));
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) Deno.exit(1);
    }
  }
}
const say = (text: string) => write(Deno.stdout, text);
const line = (value: unknown) => say(`${JSON.stringify(value)}\n`);

function endChildren(): void {
  for (const child of children) {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

function startGrandchild(): void {
  const child = new Deno.Command("sleep", {
    args: ["600"],
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  children.push(child);
  note({ event: "grandchild", grandchild: child.pid });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function ruleFor(method: string, about: string): FakeRule | undefined {
  return script.rules?.find((rule) =>
    (rule.method === undefined || rule.method === method) &&
    (rule.match === undefined || about.includes(rule.match))
  );
}

/** Does what the rule says. Whether the method is to be answered normally after it. */
async function act(
  rule: FakeRule | undefined,
  answerError: (code: number) => void,
): Promise<boolean> {
  if (rule === undefined) return true;
  if (rule.grandchild) startGrandchild();
  if (rule.stderr !== undefined) write(Deno.stderr, rule.stderr);
  if (rule.stdout !== undefined) say(rule.stdout);
  if (rule.repeat !== undefined) {
    say(rule.repeat.text.repeat(rule.repeat.times));
  }
  if (rule.delayMs !== undefined) await pause(rule.delayMs);
  if (rule.exit !== undefined) Deno.exit(rule.exit);
  if (rule.hang) await new Promise(() => setInterval(() => {}, 1000));
  if (rule.busy) { for (;;); }
  if (rule.error !== undefined) {
    answerError(rule.error);
    return false;
  }
  return rule.silent !== true;
}

interface Call {
  readonly id?: number;
  readonly method: string;
  // deno-lint-ignore no-explicit-any -- a test program that reads what it is given.
  readonly params: any;
}

async function result(call: Call): Promise<unknown> {
  const { persona, workflow, query } = call.params;
  switch (call.method) {
    case "list_personas":
      return {
        personas: script.personas.map(({ workflows, ...rest }) => ({
          ...rest,
          workflow_count: workflows.length,
        })),
      };
    case "list_workflows":
      return {
        workflows: script.personas.find((p) => p.slug === persona)?.workflows ??
          [],
      };
    case "route":
      return script.routes?.[query] ?? { confidence: 0, alternates: [] };
    default: {
      const chain = script.personas.find((p) => p.slug === persona)
        ?.workflows.find((w) => w.slug === workflow)?.skill_chain ?? [];
      for (const [index, skill] of chain.entries()) {
        line({
          jsonrpc: "2.0",
          method: "progress",
          params: { step: index + 1, total: chain.length, skill },
        });
        await pause(script.stepMs ?? 0);
      }
      return {
        steps_executed: chain.length,
        final_artifacts: chain.map((skill) => ({ skill })),
        echo: call.params,
      };
    }
  }
}

async function serveCall(call: Call): Promise<void> {
  const { id, method } = call;
  const about = JSON.stringify(call.params ?? {});
  const rule = ruleFor(method, about);
  const answer = await act(rule, (code) =>
    line({
      jsonrpc: "2.0",
      id,
      error: { code, message: "secret detail of CUO", data: { row: "secret" } },
    }));
  if (!answer) return;
  const value = rule !== undefined && "result" in rule
    ? rule.result
    : await result(call);
  line({ jsonrpc: "2.0", id: rule?.answerId ?? id, result: value });
}

async function rpc(): Promise<void> {
  if (script.protocol === "cli") {
    write(Deno.stderr, "Error: No such command 'rpc'.\n");
    Deno.exit(2);
  }
  if (script.preamble !== undefined) say(script.preamble);
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of Deno.stdin.readable) {
    rest += decoder.decode(chunk, { stream: true });
    for (let at = rest.indexOf("\n"); at !== -1; at = rest.indexOf("\n")) {
      const text = rest.slice(0, at);
      rest = rest.slice(at + 1);
      const message = JSON.parse(text);
      note({ event: "message", message });
      if (script.chatter !== undefined) say(script.chatter);
      if (message.id === undefined) continue;
      const done = serveCall(message);
      if (script.oneAtATime) await done;
    }
  }
  note({ event: "stdin end" });
  if (!script.rude) {
    endChildren();
    Deno.exit(0);
  }
}

async function cli(): Promise<void> {
  // Nothing is read from stdin, but its end means that the bridge is gone.
  (async () => {
    for await (const _ of Deno.stdin.readable);
    note({ event: "stdin end" });
    if (script.rude) return;
    endChildren();
    Deno.exit(0);
  })();
  const [command = "", subject = ""] = args;
  const answer = await act(ruleFor(command, args.join(" ")), (code) => {
    write(Deno.stderr, "error: secret detail of CUO\n");
    Deno.exit(code);
  });
  if (!answer) return;
  const persona = script.personas.find((p) => p.slug === subject.split("/")[0]);
  if (command === "list-personas") {
    const shipped = script.personas.filter((p) =>
      p.status === "shipped"
    ).length;
    say(
      `# ${shipped} shipped + 0 planned + 1 extinct = ${shipped + 1} total\n`,
    );
    for (const { slug, title, status, workflows } of script.personas) {
      say(
        `  ${slug.padEnd(35)} [${
          status.padEnd(8)
        }] ${workflows.length} workflows — ${title}\n`,
      );
    }
  } else if (command === "list-workflows") {
    if (persona === undefined) {
      write(Deno.stderr, `error: persona '${subject}' not found\n`);
      Deno.exit(2);
    }
    say(`# ${subject}: ${persona.workflows.length} workflow(s)\n`);
    for (const { slug, cadence, skill_chain } of persona.workflows) {
      say(
        `  ${slug.padEnd(50)} cadence=${cadence.padEnd(10)} chain=${
          String(skill_chain.length).padStart(2)
        } [valid]\n`,
      );
    }
  } else if (command === "route") routeCommand(subject);
  else if (command === "execute") await executeCommand(subject);
  else {
    write(Deno.stderr, `Error: No such command '${command}'.\n`);
    Deno.exit(2);
  }
  Deno.exit(0);
}

function routeCommand(query: string): void {
  const route = script.routes?.[query];
  if (route?.persona === undefined) {
    say(
      `# route('${query}') → NO_MATCH (no persona/workflow scored above threshold)\n`,
    );
    Deno.exit(1);
  }
  say(`# route('${query}') → ${route.persona}/${route.workflow}\n`);
  say(`  confidence: ${route.confidence.toFixed(2)}\n`);
  say("  rationale:  because of the words\n");
  say("  alternative workflows:\n");
  for (const pair of route.alternates) {
    say(`    ${pair.split("/").at(-1)!.padEnd(35)} 0.23\n`);
  }
}

async function executeCommand(subject: string): Promise<void> {
  const [slug, name] = subject.split("/");
  const workflow = script.personas.find((p) => p.slug === slug)?.workflows
    .find((w) => w.slug === name);
  const folder = args[args.indexOf("--output-dir") + 1]!;
  if (workflow === undefined) {
    say(`# execute ${subject} → BLOCKED\n`);
    Deno.exit(1);
  }
  for (const [index, skill] of workflow.skill_chain.entries()) {
    await pause(script.stepMs ?? 0);
    Deno.writeTextFileSync(
      `${folder}/step${String(index + 1).padStart(2, "0")}_${skill}.json`,
      JSON.stringify({ skill, made: true }),
    );
  }
  const failed = script.failStep;
  say(
    `# execute ${subject} → ${failed === undefined ? "COMPLETED" : "FAILED"}\n`,
  );
  say("\n# step results\n");
  for (const [index, skill] of workflow.skill_chain.entries()) {
    const bad = index + 1 === failed;
    say(
      `  ${bad ? "✗" : "✓"} step ${String(index + 1).padStart(2)} [${
        (bad ? "FAILED" : "OK").padEnd(7)
      }] ${skill.padEnd(35)}    12ms\n`,
    );
    if (bad) break;
  }
  if (failed !== undefined) Deno.exit(1);
}

Deno.addSignalListener("SIGTERM", () => {
  note({ event: "SIGTERM" });
  if (script.rude) return;
  endChildren();
  Deno.exit(143);
});
note({ event: "start", args, env: Deno.env.toObject() });
await (args[0] === "rpc" ? rpc() : cli());
