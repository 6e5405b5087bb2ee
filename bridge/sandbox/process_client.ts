/** The worker's side of the launcher's process service. */
import type { ProcessTree } from "../upstream/cuo/process_tree.ts";
import type { ProcessReply, ProcessRequest } from "./launch_message.ts";

/** A {@link ProcessTree} whose work the launcher does. */
export interface ProcessClient extends ProcessTree {
  /** Takes the launcher's answer. */
  settle(reply: ProcessReply): void;
}

const PATIENCE_MS = 2000;

type Question = ProcessRequest extends infer One
  ? One extends ProcessRequest ? Omit<One, "type" | "id"> : never
  : never;

/** Creates the client. An answer that does not come counts as nothing found. */
export function createProcessClient(
  send: (request: ProcessRequest) => void,
): ProcessClient {
  const waiting = new Map<number, (reply: ProcessReply) => void>();
  let nextId = 0;
  const ask = async (question: Question): Promise<ProcessReply> => {
    const id = ++nextId;
    const { promise, resolve } = Promise.withResolvers<ProcessReply>();
    const nothing: ProcessReply = {
      type: "processes",
      id,
      found: [],
      killed: 0,
    };
    const timer = setTimeout(() => resolve(nothing), PATIENCE_MS);
    waiting.set(id, resolve);
    send({ ...question, type: "processes", id } as ProcessRequest);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
  return {
    descendants: async (pid) => (await ask({ ask: "descendants", pid })).found,
    kill: async (processes) =>
      processes.length === 0
        ? 0
        : (await ask({ ask: "kill", processes })).killed,
    settle: (reply) => waiting.get(reply.id)?.(reply),
  };
}
