/** A whole Sigstore on 127.0.0.1: what `sign` needs, and what a verifier trusts. */
import type { JsonObject } from "../../../schema/json.ts";
import type { Buffer } from "node:buffer";
import { Authorities, type Handler } from "./authorities.ts";
import { Rekor } from "./rekor.ts";

/** How a stack behaves. */
export interface StackOptions {
  /** The log's clock. */
  readonly now?: () => Date;
  /** First word of its checkpoints and its name in the trusted root. */
  readonly host?: string;
}

/** A running stack. */
export interface SigningStack {
  /** Base URL of Fulcio, Rekor and the time stamp authority alike. */
  readonly url: string;
  readonly authorities: Authorities;
  readonly rekor: Rekor;
  /** What a verifier needs to believe this stack. */
  readonly trustedRoot: JsonObject;
  /** Ends the server; the keys die with the objects. */
  close(): Promise<void>;
}

/** Starts a stack with new keys on a free port. */
export async function startSigningStack(
  options: StackOptions = {},
): Promise<SigningStack> {
  const host = options.host ?? "rekor.local";
  const authorities = await Authorities.create();
  const rekor = new Rekor({
    host,
    treeId: 0x108e9186e8c5677an,
    indexOffset: 25_579,
    now: options.now ?? (() => new Date()),
  });
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
  }, (request) => route(request, authorities, rekor));
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    authorities,
    rekor,
    trustedRoot: trustedRoot(host, authorities, rekor),
    close: () => server.shutdown(),
  };
}

async function route(
  request: Request,
  { fulcio, timestamps }: Authorities,
  rekor: Rekor,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  for (const handler of [fulcio, timestamps]) {
    if (request.method === "POST" && pathname === handler.path) {
      return await answerBy(handler, request);
    }
  }
  if (request.method === "POST" && pathname === ENTRIES) {
    return await addEntry(request, rekor);
  }
  const uuid = ENTRY.exec(pathname)?.[1];
  const index = uuid === undefined ? undefined : rekor.find(uuid);
  return index === undefined
    ? Response.json({ code: 404, message: "not found" }, { status: 404 })
    : Response.json(rekor.entry(index));
}

const ENTRIES = "/api/v1/log/entries";
const ENTRY = /^\/api\/v1\/log\/entries\/([0-9a-f]{64}|[0-9a-f]{80})$/;

async function answerBy(handler: Handler, request: Request) {
  const { statusCode, response, contentType } = await handler.fn(
    await request.text(),
  );
  return new Response(response, {
    status: statusCode,
    headers: { "content-type": contentType ?? "text/plain" },
  });
}

async function addEntry(request: Request, rekor: Rekor): Promise<Response> {
  try {
    const { index, known } = rekor.add(await request.json());
    const headers = { location: `${ENTRIES}/${rekor.uuid(index)}` };
    return known
      ? Response.json({ code: 409, message: "an equivalent entry exists" }, {
        status: 409,
        headers,
      })
      : Response.json(rekor.entry(index), { status: 201, headers });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return Response.json({ code: 400, message }, { status: 400 });
  }
}

function trustedRoot(
  host: string,
  authorities: Authorities,
  rekor: Rekor,
): JsonObject {
  // Long before any certificate: the stack's life is bounded by its keys.
  const validFor = { start: "2020-01-01T00:00:00Z" };
  const log = (baseUrl: string, publicKey: Buffer, logId: Buffer) => ({
    baseUrl,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: publicKey.toString("base64"),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor,
    },
    logId: { keyId: logId.toString("base64") },
  });
  const authority = (name: string, chain: readonly Buffer[]) => ({
    subject: { organization: "CyberOS development", commonName: name },
    uri: `https://${name}.local`,
    certChain: {
      certificates: chain.map((der) => ({ rawBytes: der.toString("base64") })),
    },
    validFor,
  });
  const { publicKey, logId } = authorities.certificateLog;
  return {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [log(`https://${host}`, rekor.publicKey, rekor.logId)],
    certificateAuthorities: [
      authority("fulcio", [authorities.rootCertificate]),
    ],
    ctlogs: [log("https://ctfe.local", publicKey, logId)],
    timestampAuthorities: [authority("tsa", authorities.timestampChain)],
  };
}
