/**
 * Ends what a CUO child has started, on the worker's behalf.
 *
 * The worker may start one program and may signal nothing else, so that a
 * grandchild that ignores its parent's end would stay. The launcher can end it,
 * and does so only for processes that it has itself seen below a child of this
 * process: whatever the worker says, no other process is touched.
 */
import {
  descendantsIn,
  killProcesses,
  type ProcessEntry,
  type ProcessRef,
  readProcesses,
} from "../upstream/cuo/process_tree.ts";
import type { ProcessReply, ProcessRequest } from "./launch_message.ts";

/** The effects, for tests. */
export interface ProcessServiceOptions {
  readonly ownPid: number;
  readonly read: () => Promise<readonly ProcessEntry[]>;
  readonly kill: (processes: readonly ProcessRef[]) => Promise<number>;
}

/** Answers one request; never rejects. */
export type ProcessService = (request: ProcessRequest) => Promise<ProcessReply>;

const MAX_SEEN = 10_000;
const MAX_ASKED = 1_000;

/** Creates the service over this process's real children. */
export function createProcessService(
  options: ProcessServiceOptions = {
    ownPid: Deno.pid,
    read: readProcesses,
    kill: killProcesses,
  },
): ProcessService {
  // Start by number, of those that still live: a number that is given anew is another process.
  const seen = new Map<number, string>();
  const isSeen = ({ pid, started }: ProcessRef): boolean =>
    seen.get(pid) === started;
  const descendants = async (pid: number): Promise<readonly ProcessRef[]> => {
    const table = await options.read();
    const living = new Map(table.map((entry) => [entry.pid, entry]));
    // A table that could not be read says nothing about who is gone.
    if (!living.has(options.ownPid)) return [];
    for (const old of seen.keys()) if (!living.has(old)) seen.delete(old);
    if (living.get(pid)?.parent !== options.ownPid) return [];
    const found = descendantsIn(table, pid)
      .filter((process) => process.pid !== options.ownPid);
    for (const process of found) {
      if (seen.size < MAX_SEEN) seen.set(process.pid, process.started);
    }
    return found;
  };
  return async (request) => {
    const reply = {
      type: "processes",
      id: request.id,
      found: [],
      killed: 0,
    } as const;
    try {
      if (request.ask === "descendants") {
        return { ...reply, found: await descendants(request.pid) };
      }
      const known = request.processes.slice(0, MAX_ASKED)
        .filter(isSeen);
      return { ...reply, killed: await options.kill(known) };
    } catch {
      return reply;
    }
  };
}

/** Whether the worker's message is such a request; it is not believed otherwise. */
export function isProcessRequest(data: unknown): data is ProcessRequest {
  const request = (data ?? {}) as
    & Partial<ProcessRequest>
    & Record<string, unknown>;
  if (request.type !== "processes" || !Number.isInteger(request.id)) {
    return false;
  }
  if (request.ask === "descendants") return Number.isInteger(request.pid);
  return request.ask === "kill" && Array.isArray(request.processes) &&
    request.processes.every((one) =>
      Number.isInteger(one?.pid) && typeof one?.started === "string"
    );
}
