/** The embedded database as another process serves it. */
import type { SqlRow } from "../ports.ts";
import type { LocalDatabase } from "./local_database.ts";
import type { EndpointConnection } from "./local_endpoint.ts";
import {
  lineChannel,
  LOCAL_PROTOCOL,
  type LocalReply,
  type LocalRequest,
} from "./local_wire.ts";
import { toSqlError } from "./pglite_messages.ts";

/** The one that has the database is of another version: a retry does not help. */
export class FollowerRefusedError extends Error {
  override readonly name = "FollowerRefusedError";
}

/**
 * Follows the process at the other end.
 *
 * @throws {FollowerRefusedError} when the two cannot work together.
 */
export async function followDatabase(
  { connection, secret }: EndpointConnection,
  schema: number,
): Promise<LocalDatabase> {
  const channel = lineChannel<LocalRequest, LocalReply>(connection);
  const welcome = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const waiting = new Map<
    number,
    {
      resolve(rows: readonly SqlRow[]): void;
      reject(error: unknown): void;
    }
  >();
  let nextId = 0;
  let over = false;
  const database: LocalDatabase = {
    onNotify: () => {},
    ended: ended.promise,
    query(statement, parameters) {
      if (over) return Promise.reject(gone());
      const id = nextId++;
      channel.send({ id, statement, parameters });
      return new Promise((resolve, reject) =>
        waiting.set(id, { resolve, reject })
      );
    },
    listen: (name) => channel.send({ listen: name }),
    async close() {
      channel.close();
      await ended.promise;
    },
  };
  void read();
  channel.send({ hello: LOCAL_PROTOCOL, secret, schema });
  try {
    await welcome.promise;
  } catch (error) {
    channel.close();
    throw error;
  }
  return database;

  async function read(): Promise<void> {
    for await (const reply of channel.messages()) hear(reply);
    over = true;
    welcome.reject(gone());
    for (const { reject } of waiting.values()) reject(gone());
    waiting.clear();
    ended.resolve();
  }

  function hear(reply: LocalReply): void {
    if ("welcome" in reply) welcome.resolve();
    else if ("refused" in reply) {
      welcome.reject(new FollowerRefusedError(reply.refused));
    } else if ("rows" in reply) {
      waiting.get(reply.id)?.resolve(reply.rows);
      waiting.delete(reply.id);
    } else if ("error" in reply) {
      waiting.get(reply.id)?.reject(toSqlError(reply.error));
      waiting.delete(reply.id);
    } else database.onNotify(reply.channel, reply.payload);
  }
}

function gone(): Error {
  return toSqlError({
    message: "The process that has the embedded database has ended",
    code: "EMBEDDED_CLOSED",
  });
}
