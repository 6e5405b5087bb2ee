/** A machine in small: an allowed and another server, an allowed and another program, files and a neighbour. */
import { SECRET, type Targets } from "./targets.ts";

/** What the test needs of it. */
export interface Scene extends AsyncDisposable {
  readonly dir: string;
  /** The folder for PATH. */
  readonly programs: string;
  readonly targets: Omit<Targets, "dataDir">;
}

/** Makes it; everything ends with `await using`. */
export async function startScene(): Promise<Scene> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  const programs = `${dir}/programs`;
  await Deno.mkdir(programs);
  const script = `#!/bin/sh\n[ "$1" = sleep ] && exec sleep 30\nexit 0\n`;
  for (const name of ["cyberos-cuo", "other"]) {
    await Deno.writeTextFile(`${programs}/${name}`, script, { mode: 0o755 });
  }
  await Deno.writeTextFile(`${dir}/secret.txt`, SECRET);
  await Deno.writeTextFile(
    `${dir}/secret.txt.js`,
    "self.postMessage?.(1); export {};",
  );
  await Deno.writeTextFile(`${dir}/secret.txt.json`, `{"key":"${SECRET}"}`);
  const other = serve(() => new Response("export {};", JAVASCRIPT));
  const away = `http://127.0.0.1:${other.addr.port}/`;
  const allowed = serve((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/redirect-away") return Response.redirect(away);
    if (pathname === "/redirect-home") {
      return Response.redirect(new URL("/", request.url));
    }
    return new Response("export {};", JAVASCRIPT);
  });
  const unixSocket = `${dir}/s`;
  const socket = Deno.listen({ transport: "unix", path: unixSocket });
  const accepting = acceptAll(socket);
  const neighbour = new Deno.Command("sleep", { args: ["60"] }).spawn();
  return {
    dir,
    programs,
    targets: {
      allowedOrigin: `http://localhost:${allowed.addr.port}`,
      otherOrigin: `http://127.0.0.1:${other.addr.port}`,
      allowedProgram: `${programs}/cyberos-cuo`,
      otherProgram: `${programs}/other`,
      secretFile: `${dir}/secret.txt`,
      unixSocket,
      otherPid: neighbour.pid,
    },
    async [Symbol.asyncDispose]() {
      neighbour.kill("SIGKILL");
      await neighbour.status;
      socket.close();
      await accepting;
      await Promise.all([allowed.shutdown(), other.shutdown()]);
      await Deno.remove(dir, { recursive: true });
    },
  };
}

const JAVASCRIPT = { headers: { "content-type": "application/javascript" } };

function serve(
  handler: (request: Request) => Response,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({
    hostname: "0.0.0.0",
    port: 0,
    onListen: () => {},
  }, handler);
}

async function acceptAll(listener: Deno.UnixListener): Promise<void> {
  try {
    for await (const connection of listener) connection.close();
  } catch {
    // Closed at the end of the scene.
  }
}
