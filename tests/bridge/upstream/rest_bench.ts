/** A real HTTP server that a test scripts, in the place of an upstream. */

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

/** What the server does with it. */
export type Answer = (
  seen: Seen,
  request: Request,
) => Response | Promise<Response>;

/** A scripted server. */
export interface RestServer {
  readonly endpoint: string;
  readonly seen: Seen[];
  /** From now on. */
  answer(next: Answer): void;
}

/** Runs with a server on a free port. */
export async function withRest(
  answer: Answer,
  run: (server: RestServer) => Promise<void>,
): Promise<void> {
  let current = answer;
  const seen: Seen[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const entry: Seen = {
        method: request.method,
        url: new URL(request.url),
        headers: request.headers,
        body: await request.text(),
      };
      seen.push(entry);
      return await current(entry, request);
    },
  );
  try {
    await run({
      endpoint: `http://127.0.0.1:${server.addr.port}`,
      seen,
      answer: (next) => current = next,
    });
  } finally {
    await server.shutdown();
  }
}

/** A bare TCP server that does what no HTTP server would. */
export async function withTcp(
  serve: (connection: Deno.Conn) => Promise<void>,
  run: (endpoint: string) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) {
      serving.push(
        serve(connection).catch(() => {}).finally(() => {
          try {
            connection.close();
          } catch {
            // The test closed it.
          }
        }),
      );
    }
  })();
  try {
    await run(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`);
  } finally {
    listener.close();
    await accepting.catch(() => {});
    await Promise.all(serving);
  }
}
