/** Reaching a host, a port or a socket that the configuration does not name. */
import { connect } from "node:net";
import type { Escape } from "./escapes.ts";
import type { Targets } from "./targets.ts";

async function read(
  url: string,
  options: RequestInit & { client?: Deno.HttpClient } = {},
): Promise<boolean> {
  const answer = await fetch(url, options);
  return answer.ok && (await answer.text()).length > 0;
}

const port = (origin: string) => Number(new URL(origin).port);
const byIp = (origin: string) => origin.replace("localhost", "127.0.0.1");
const allowed = (targets: Targets) => read(targets.allowedOrigin);

async function tcp(hostname: string, port: number): Promise<boolean> {
  const connection = await Deno.connect({ hostname, port });
  connection.close();
  return true;
}

function nodeTcp(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve(true);
    });
    // Deno 2.6 reports its refusal as ECONNREFUSED; the server does not refuse.
    socket.on("error", () => reject(new Deno.errors.NotCapable()));
  });
}

function webSocket(origin: string): Promise<boolean> {
  const socket = new WebSocket(origin.replace("http", "ws"));
  return new Promise((resolve, reject) => {
    // Neither server upgrades: to have been asked is to have been reached.
    socket.onerror = (event) =>
      /permission|NotCapable|access/i.test((event as ErrorEvent).message)
        ? reject(new Deno.errors.NotCapable())
        : resolve(true);
    socket.onopen = () => resolve(true);
  });
}

/** Hosts are compared by text, with their port, and again at every redirect. */
export const escapesByNetwork: readonly Escape[] = [
  {
    name: "fetch from another host",
    attempt: ({ otherOrigin }) =>
      read(otherOrigin.replace("127.0.0.1", "127.0.0.2")),
    control: allowed,
  },
  {
    name: "fetch from another port of an allowed host",
    attempt: ({ otherOrigin }) =>
      read(otherOrigin.replace("127.0.0.1", "localhost")),
    control: allowed,
  },
  {
    name: "fetch from the IP address behind an allowed name",
    attempt: ({ allowedOrigin }) => read(byIp(allowedOrigin)),
    control: allowed,
  },
  {
    name: "follow an allowed host's redirect to another host",
    attempt: ({ allowedOrigin }) => read(`${allowedOrigin}/redirect-away`),
    control: ({ allowedOrigin }) => read(`${allowedOrigin}/redirect-home`),
  },
  {
    name: "fetch through a proxy on another host",
    attempt: ({ allowedOrigin, otherOrigin }) => {
      using client = Deno.createHttpClient({ proxy: { url: otherOrigin } });
      return read(allowedOrigin, { client });
    },
    control: ({ allowedOrigin }) => {
      const client = Deno.createHttpClient({});
      return read(allowedOrigin, { client }).finally(() => client.close());
    },
  },
  {
    name: "open a TCP connection to another host",
    attempt: ({ otherOrigin }) => tcp("127.0.0.1", port(otherOrigin)),
    control: ({ allowedOrigin }) => tcp("localhost", port(allowedOrigin)),
  },
  {
    name: "open a TCP connection through node:net",
    attempt: ({ otherOrigin }) => nodeTcp("127.0.0.1", port(otherOrigin)),
    control: ({ allowedOrigin }) => nodeTcp("localhost", port(allowedOrigin)),
  },
  {
    name: "open a WebSocket to another host",
    attempt: ({ otherOrigin }) => webSocket(otherOrigin),
    control: ({ allowedOrigin }) => webSocket(allowedOrigin),
  },
  {
    name: "carry data out in a DNS question",
    // Nobody answers there: to have waited is to have asked.
    attempt: () =>
      Promise.race([
        Deno.resolveDns("secret.example", "A", {
          nameServer: { ipAddr: "127.0.0.1", port: 9 },
        }),
        new Promise((resolve) => setTimeout(resolve, 300)),
      ]),
    control: allowed,
  },
  {
    name: "listen on a port of its own",
    attempt: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
    control: allowed,
  },
  {
    name: "connect to a Unix socket",
    attempt: async ({ unixSocket }) => {
      const connection = await Deno.connect({
        transport: "unix",
        path: unixSocket,
      });
      connection.close();
    },
    control: allowed,
  },
  {
    name: "listen on a Unix socket",
    attempt: ({ unixSocket }) =>
      Deno.listen({ transport: "unix", path: `${unixSocket}2` }).close(),
    control: allowed,
  },
];
