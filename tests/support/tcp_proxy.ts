/** A TCP proxy that can break connections in the ways networks do. */

/** What the proxy does with a new connection. */
export type ProxyMode = "forward" | "accept-and-close" | "silent";

/** A proxy in front of one port of this machine. */
export interface TcpProxy {
  readonly port: number;
  mode: ProxyMode;
  /** Connections that were accepted so far. */
  readonly accepted: number;
  /** Breaks everything that is open. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. */
export function startProxy(targetPort: number): TcpProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let accepted = 0;
  const close = (connection: Deno.Conn): void => {
    if (!open.delete(connection)) return;
    try {
      connection.close();
    } catch {
      // Closed from the other side already.
    }
  };
  const proxy: TcpProxy & { mode: ProxyMode } = {
    port: (listener.addr as Deno.NetAddr).port,
    mode: "forward",
    get accepted() {
      return accepted;
    },
    cut() {
      for (const connection of [...open]) close(connection);
    },
    async close() {
      listener.close();
      proxy.cut();
      await serving;
    },
  };

  async function pipe(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65536);
    try {
      for (
        let n = await from.read(buffer);
        n !== null;
        n = await from.read(buffer)
      ) {
        for (let at = 0; at < n;) at += await to.write(buffer.subarray(at, n));
      }
    } catch {
      // Broken on purpose.
    } finally {
      close(from);
      close(to);
    }
  }

  async function serve(client: Deno.Conn): Promise<void> {
    open.add(client);
    if (proxy.mode === "silent") return;
    if (proxy.mode !== "forward") return close(client);
    try {
      const server = await Deno.connect({
        hostname: "127.0.0.1",
        port: targetPort,
      });
      open.add(server);
      await Promise.all([pipe(client, server), pipe(server, client)]);
    } catch {
      close(client);
    }
  }

  const serving = (async () => {
    const all: Promise<void>[] = [];
    try {
      for await (const client of listener) {
        accepted++;
        all.push(serve(client));
      }
    } catch {
      // The listener was closed.
    }
    await Promise.all(all);
  })();
  return proxy;
}
