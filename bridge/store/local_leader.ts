/** The bridge that has the embedded database open, and serves it to the others. */
import type { EndpointListener } from "./local_endpoint.ts";
import type { LocalDatabase } from "./local_database.ts";
import {
  type LineChannel,
  lineChannel,
  LOCAL_PROTOCOL,
  type LocalReply,
  type LocalRequest,
} from "./local_wire.ts";
import { sqlCodeOf } from "./sql_error.ts";

type Follower = LineChannel<LocalReply, LocalRequest>;
type Verdict = "welcome" | "refused" | "stranger";

/** What {@link serveDatabase} is told. */
export interface LeaderOptions {
  readonly endpoint: EndpointListener;
  /** Opens while followers already knock. */
  readonly database: Promise<LocalDatabase>;
  /** The newest migration that this program applies. */
  readonly schema: number;
  /** How long a caller may take to say who it is. */
  readonly helloMs?: number;
}

const HELLO_MS = 5_000;
const MAX_HELLO_BYTES = 4_096;

/** Serves the database; what it resolves with is the database, for this process's own use. */
export async function serveDatabase(
  options: LeaderOptions,
): Promise<LocalDatabase> {
  const { endpoint } = options;
  const followers = new Map<Follower, Set<string>>();
  const accepting = accept();
  options.database.catch(() => stop());
  const database = await options.database;
  const shared: LocalDatabase = {
    onNotify: () => {},
    ended: database.ended,
    query: database.query,
    listen: database.listen,
    async close() {
      stop();
      await accepting;
      await database.close();
    },
  };
  database.onNotify = (channel, payload) => {
    shared.onNotify(channel, payload);
    for (const [follower, channels] of followers) {
      if (channels.has(channel)) follower.send({ channel, payload });
    }
  };
  void database.ended.then(stop);
  return shared;

  function stop(): void {
    try {
      endpoint.close();
    } catch {
      // Closed already.
    }
    for (const follower of followers.keys()) follower.close();
  }

  async function accept(): Promise<void> {
    const serving = new Set<Promise<void>>();
    try {
      for await (const connection of endpoint.listener) {
        const served = serve(lineChannel(connection, MAX_HELLO_BYTES))
          .finally(() => serving.delete(served));
        serving.add(served);
      }
    } catch {
      // The place was given up.
    }
    await Promise.all(serving);
  }

  async function serve(follower: Follower): Promise<void> {
    followers.set(follower, new Set());
    const late = setTimeout(follower.close, options.helloMs ?? HELLO_MS);
    let verdict: Verdict | undefined;
    for await (const request of follower.messages()) {
      if (verdict === undefined) verdict = greet(follower, request);
      else if (verdict === "welcome") void answer(follower, request);
      if (verdict === "stranger") break;
      // Who is refused is read on, unheeded, until it has heard that and leaves.
      if (verdict === "welcome") clearTimeout(late);
    }
    clearTimeout(late);
    followers.delete(follower);
  }

  function greet(follower: Follower, request: LocalRequest): Verdict {
    if (!("hello" in request) || !sameText(request.secret, endpoint.secret)) {
      return "stranger";
    }
    if (request.hello !== LOCAL_PROTOCOL || request.schema !== options.schema) {
      follower.send({
        refused:
          "Another window runs another version of cyberos-mcp-bridge on this data folder: restart it",
      });
      return "refused";
    }
    follower.send({ welcome: true });
    return "welcome";
  }

  async function answer(
    follower: Follower,
    request: LocalRequest,
  ): Promise<void> {
    if ("listen" in request) {
      followers.get(follower)?.add(request.listen);
      (await options.database).listen(request.listen);
      return;
    }
    if (!("statement" in request)) return;
    const { id, statement, parameters } = request;
    try {
      const opened = await options.database;
      follower.send({ id, rows: await opened.query(statement, parameters) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const code = sqlCodeOf(error);
      follower.send({
        id,
        error: code === undefined ? { message } : { message, code },
      });
    }
  }
}

function sameText(given: unknown, wanted: string): boolean {
  if (typeof given !== "string" || given.length !== wanted.length) return false;
  let difference = 0;
  for (let at = 0; at < wanted.length; at++) {
    difference |= given.charCodeAt(at) ^ wanted.charCodeAt(at);
  }
  return difference === 0;
}
