/**
 * Where the bridges that share a data folder meet: a socket in it that only its
 * user can open, or where that cannot be, a loopback port whose number and
 * secret are in a file that only its user can read.
 */

/** Which of the two a folder has. */
export type EndpointKind = "unix" | "tcp";

/** The place in a folder, and how it is reached. */
export interface LocalEndpoint {
  readonly kind: EndpointKind;
  /** Takes the place; what a dead process left there is replaced. */
  listen(): Promise<EndpointListener>;
  /** @throws When nobody is there. */
  connect(): Promise<EndpointConnection>;
}

/** Somebody who may be talked to, and the secret that proves the right to. */
export interface EndpointConnection {
  readonly connection: Deno.Conn;
  readonly secret: string;
}

/** The taken place. */
export interface EndpointListener {
  readonly listener: Deno.Listener;
  /** What a caller must say first; empty where the file system says enough. */
  readonly secret: string;
  close(): void;
}

// Linux takes 107 bytes, macOS 103.
const MAX_SOCKET_PATH = 100;
const LOOPBACK = "127.0.0.1";

/** The kind for a folder. */
export function endpointKind(
  dataDir: string,
  os: string = Deno.build.os,
): EndpointKind {
  const path = new TextEncoder().encode(socketPath(dataDir));
  return os === "windows" || path.length > MAX_SOCKET_PATH ? "tcp" : "unix";
}

/** What a folder's endpoint needs in `--allow-net`, besides reading and writing in the folder. */
export function endpointGrants(
  dataDir: string,
  denoVersion: string = Deno.version.deno,
): readonly string[] {
  if (endpointKind(dataDir) === "tcp") return [LOOPBACK];
  // Before 2.9 a socket was a matter of files alone, and its grant a wrong address.
  const [major = 0, minor = 0] = denoVersion.split(".").map(Number);
  return major > 2 || minor >= 9 ? [`unix:${socketPath(dataDir)}`] : [];
}

/** The endpoint of a folder. */
export function localEndpoint(
  dataDir: string,
  kind: EndpointKind = endpointKind(dataDir),
): LocalEndpoint {
  return kind === "unix"
    ? unixEndpoint(socketPath(dataDir))
    : tcpEndpoint(`${dataDir}/store.port`);
}

function socketPath(dataDir: string): string {
  return `${dataDir}/store.sock`;
}

function unixEndpoint(path: string): LocalEndpoint {
  return {
    kind: "unix",
    async listen() {
      removeIfThere(path);
      const listener = Deno.listen({ transport: "unix", path });
      await Deno.chmod(path, 0o600);
      return {
        listener,
        secret: "",
        close() {
          listener.close();
          // At once: whoever takes over makes its own here.
          removeIfThere(path);
        },
      };
    },
    async connect() {
      const connection = await Deno.connect({ transport: "unix", path });
      return { connection, secret: "" };
    },
  };
}

function tcpEndpoint(path: string): LocalEndpoint {
  return {
    kind: "tcp",
    async listen() {
      const listener = Deno.listen({ hostname: LOOPBACK, port: 0 });
      const { port } = listener.addr as Deno.NetAddr;
      const secret = crypto.randomUUID() + crypto.randomUUID();
      removeIfThere(path);
      await Deno.writeTextFile(path, JSON.stringify({ port, secret }), {
        mode: 0o600,
        createNew: true,
      });
      return {
        listener,
        secret,
        close() {
          listener.close();
          // At once: whoever takes over makes its own here.
          removeIfThere(path);
        },
      };
    },
    async connect() {
      const { port, secret } = JSON.parse(await Deno.readTextFile(path));
      const connection = await Deno.connect({ hostname: LOOPBACK, port });
      return { connection, secret };
    },
  };
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
