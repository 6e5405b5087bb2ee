/**
 * A JSR registry in small, on loopback: takes what `deno publish` sends and
 * serves it as jsr.io would, so that a package is tried before anybody gets it.
 *
 * Source: JSR's management API and "Registry API", https://jsr.io/docs/api.
 */
import { readTar, type TarFile } from "./tar.ts";

/** The running registry. */
export interface JsrRegistry extends AsyncDisposable {
  /** For `JSR_URL`. */
  readonly url: string;
  /** Files of the published version by path with a leading slash. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

interface Published {
  name: string;
  version: string;
  exports: Record<string, string>;
}

/** Starts it. */
export function startJsrRegistry(): JsrRegistry {
  const files = new Map<string, Uint8Array>();
  let published: Published | undefined;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/api/")) {
        if (request.method === "POST") {
          published = take(await untar(request), files);
        } else if (pathname.includes("/versions/")) {
          return Response.json({ code: "notFound", message: "not found" }, {
            status: 404,
          });
        }
        return Response.json({ id: "1", status: "success" });
      }
      return published === undefined
        ? new Response(null, { status: 404 })
        : serve(pathname, published, files);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    files,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function untar(request: Request): Promise<TarFile[]> {
  const body = request.body as ReadableStream<Uint8Array<ArrayBuffer>>;
  const bytes = await new Response(
    body.pipeThrough(new DecompressionStream("gzip")),
  ).bytes();
  return readTar(bytes);
}

function take(
  tar: readonly TarFile[],
  files: Map<string, Uint8Array>,
): Published {
  for (const { path, bytes } of tar) {
    files.set(path.replace(/^\.?\/?/, "/"), bytes);
  }
  const config = files.get("/deno.json") as Uint8Array;
  return JSON.parse(new TextDecoder().decode(config));
}

async function serve(
  pathname: string,
  { name, version, exports }: Published,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<Response> {
  if (pathname === `/${name}/meta.json`) {
    return Response.json({
      scope: name.slice(1).split("/")[0],
      name: name.split("/")[1],
      latest: version,
      versions: { [version]: {} },
    });
  }
  if (pathname === `/${name}/${version}_meta.json`) {
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const [path, bytes] of files) {
      const digest = await crypto.subtle.digest(
        "SHA-256",
        bytes as Uint8Array<ArrayBuffer>,
      );
      manifest[path] = {
        size: bytes.length,
        checksum: `sha256-${
          [...new Uint8Array(digest)].map((byte) =>
            byte.toString(16).padStart(2, "0")
          ).join("")
        }`,
      };
    }
    return Response.json({ manifest, exports });
  }
  const bytes = files.get(pathname.slice(`/${name}/${version}`.length));
  if (bytes === undefined) return new Response(null, { status: 404 });
  const type = pathname.endsWith(".ts")
    ? "text/typescript"
    : pathname.endsWith(".js")
    ? "text/javascript"
    : pathname.endsWith(".json")
    ? "application/json"
    : "application/octet-stream";
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": type },
  });
}
