/**
 * Adds a bearer token to every request on its way to a bridge, and changes
 * nothing else: for clients that can send none, such as the conformance suite.
 *
 * By hand: `deno run -A tests/bridge/conformance/token_proxy.ts 8791 8082 TOKEN`.
 */

/** Where the proxy stands. */
export interface TokenProxyOptions {
  readonly listenPort: number;
  readonly bridgePort: number;
  readonly token: string;
  readonly signal: AbortSignal;
}

const HEAD_END = "\r\n\r\n";
const MAX_HEAD_CHARS = 65_536;

/** Runs the proxy until the signal aborts. One request a connection. */
export async function runTokenProxy(options: TokenProxyOptions): Promise<void> {
  const listener = Deno.listen({
    hostname: "127.0.0.1",
    port: options.listenPort,
  });
  options.signal.addEventListener("abort", () => listener.close());
  for await (const client of listener) {
    forward(client, options).catch(() => {});
  }
}

async function forward(
  client: Deno.TcpConn,
  { bridgePort, token }: TokenProxyOptions,
): Promise<void> {
  const bridge = await Deno.connect({
    hostname: "127.0.0.1",
    port: bridgePort,
  });
  const head = await readHead(client);
  const end = head.indexOf(HEAD_END);
  const marked = head.slice(0, end) +
    `\r\nAuthorization: Bearer ${token}\r\nConnection: close` + head.slice(end);
  const writer = bridge.writable.getWriter();
  await writer.write(Uint8Array.from(marked, (unit) => unit.charCodeAt(0)));
  writer.releaseLock();
  await Promise.allSettled([
    client.readable.pipeTo(bridge.writable, { preventClose: true }),
    bridge.readable.pipeTo(client.writable),
  ]);
}

async function readHead(client: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder("latin1");
  const buffer = new Uint8Array(16_384);
  let head = "";
  while (!head.includes(HEAD_END) && head.length < MAX_HEAD_CHARS) {
    const count = await client.read(buffer);
    if (count === null) throw new Error("The client left");
    head += decoder.decode(buffer.subarray(0, count));
  }
  return head.replace(/\r\nconnection: [^\r]*/i, "");
}

if (import.meta.main) {
  const [listenPort, bridgePort, token] = Deno.args;
  if (token === undefined) Deno.exit(2);
  await runTokenProxy({
    listenPort: Number(listenPort),
    bridgePort: Number(bridgePort),
    token,
    signal: new AbortController().signal,
  });
}
