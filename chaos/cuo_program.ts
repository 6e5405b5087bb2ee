/** A `cyberos-cuo` light enough to run two hundred times, which keeps a journal of what it did. */
import type { FakeCuo } from "../tests/support/fake_cuo/install.ts";

/** What the program did for one task, by its own account. */
export interface WorkNote {
  readonly event: "start" | "done" | "crash";
  readonly pid: number;
  readonly taskId: string;
  readonly key: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** The installed program. */
export interface ChaosCuo extends AsyncDisposable {
  /** What a bridge is told of it. */
  readonly installed: FakeCuo;
  journal(): Promise<readonly WorkNote[]>;
  /** Process ids of the program that live now. */
  alive(): Promise<readonly number[]>;
}

// Bash's `read -t` waits and notices the end of stdin at once, without a child
// of its own that could be left over.
const PROGRAM = (journal: string): string =>
  String.raw`#!/bin/bash
[ "$1" = rpc ] || { echo "Error: No such command" >&2; exit 2; }
member() { local rest="${"$"}{line#*\"$1\":}"; rest="${"$"}{rest#\"}"; printf -v "$2" %s "${"$"}{rest%%[\",\}]*}"; }
while IFS= read -r line; do
  member id id
  case "$line" in
    *'"method":"execute_workflow"'*)
      member task_id task; member key key; member steps steps; member seconds seconds; member crash crash
      printf 'start %s %s %s %s\n' $$ "$task" "$key" "$EPOCHREALTIME" >>'${journal}'
      for ((step = 1; step <= steps; step++)); do
        printf '{"jsonrpc":"2.0","method":"progress","params":{"step":%d,"total":%d,"skill":"skill-%d"}}\n' "$step" "$steps" "$step"
        IFS= read -r -t "$seconds" more; ended=$?
        [ "$ended" = 1 ] && exit 0
        if [ "$crash" = "$step" ]; then printf 'crash %s %s %s %s\n' $$ "$task" "$key" "$EPOCHREALTIME" >>'${journal}'; exit 3; fi
      done
      printf 'done %s %s %s %s\n' $$ "$task" "$key" "$EPOCHREALTIME" >>'${journal}'
      printf '{"jsonrpc":"2.0","id":%s,"result":{"steps_executed":%d,"final_artifacts":[]}}\n' "$id" "$steps" ;;
    *'"method":"list_personas"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"personas":[{"slug":"cto","title":"CTO","status":"shipped","workflow_count":1}]}}\n' "$id" ;;
    *'"method":"list_workflows"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"workflows":[{"slug":"adr","cadence":"on-demand","inputs":[],"outputs":[],"skill_chain":["a"]}]}}\n' "$id" ;;
    *'"method":"route"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"persona":"cto","workflow":"adr","confidence":0.5,"alternates":[]}}\n' "$id" ;;
  esac
done
`;

/** Installs the program in a folder of its own. */
export async function installChaosCuo(): Promise<ChaosCuo> {
  const base = await Deno.realPath(
    await Deno.makeTempDir({ prefix: "chaos-cuo-" }),
  );
  const program = `${base}/cyberos-cuo`;
  const journal = `${base}/journal`;
  await Deno.mkdir(`${base}/skills`);
  await Deno.writeTextFile(journal, "");
  await Deno.writeTextFile(program, PROGRAM(journal), { mode: 0o755 });
  return {
    installed: { program, binDir: base, root: base } as unknown as FakeCuo,
    async journal() {
      const text = await Deno.readTextFile(journal);
      return text.split("\n").filter((line) => line !== "").map((line) => {
        const [event, pid, taskId, key, at] = line.split(" ");
        const atMs = Number(at) * 1000;
        return { event, pid: Number(pid), taskId, key, atMs } as WorkNote;
      });
    },
    async alive() {
      const found: number[] = [];
      for await (const { name } of Deno.readDir("/proc")) {
        if (!/^\d+$/.test(name)) continue;
        const command = await Deno.readTextFile(`/proc/${name}/cmdline`)
          .catch(() => "");
        if (command.includes(program) && !await isZombie(name)) {
          found.push(Number(name));
        }
      }
      return found;
    },
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

async function isZombie(pid: string): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => ") Z");
  return stat.slice(stat.lastIndexOf(")") + 2)[0] === "Z";
}
