/** `cyberos-plugin sign`: signs a manifest's content with Sigstore. */
import { parseArgs } from "node:util";
import { reasonOf } from "../disk/read.ts";
import { PackerError } from "../errors.ts";
import { findIdentityToken } from "../sigstore/identity_token.ts";
import { redact } from "../sigstore/redact.ts";
import {
  PUBLIC_GOOD,
  type SigningServices,
} from "../sigstore/sign_statement.ts";
import { sign, type SignOptions, type SignResult } from "../sign.ts";
import { TARGETS } from "../types.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { loadTrustedRoot } from "./trusted_root_file.ts";

const HELP = `cyberos-plugin sign: sign a manifest's content with Sigstore

Usage: cyberos-plugin sign MANIFEST [OPTIONS]

Signs without a key of your own: an identity token says who you are, a
certificate that lives for ten minutes carries it, and a public log keeps the
proof for ever. Your identity becomes public with it.

The signature goes into the manifest for ${TARGETS[0]}, and into
<id>@<version>.<target>.signature.json beside it for the other hosts.

Options:
  --target HOST               ${TARGETS.join(", ")} (default ${TARGETS[0]})
  --bridge FILE               the compiled bridge that the bundle will take along
  --out FILE                  write the signature to this file instead
  --identity-token-file FILE  read the identity token from a file; - is standard input
  --identity-token TOKEN      the token itself; others on this computer may see it
  --fulcio-url URL            certificate authority (default ${PUBLIC_GOOD.fulcioUrl})
  --rekor-url URL             log, of version 1 (default ${PUBLIC_GOOD.rekorUrl})
  --tsa-url URL               time stamp authority, for a time stamp besides
  --trusted-root FILE         verify the new signature under this Sigstore trusted root
  --json                      print the result as JSON

Without a token option, SIGSTORE_ID_TOKEN is taken, or GitHub Actions is asked
(the job needs "permissions: id-token: write").

Exit codes: 0 signed, 1 refused and nothing written, 2 wrong usage.
More in docs/signing.md.
`;

/** The subcommand. */
export const command: Command = {
  name: "sign",
  summary: "sign a manifest's content with Sigstore",
  help: HELP,
  run,
};

async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { manifest, values } = parse(args);
  const result = await sign(manifest, await optionsOf(values, terminal));
  if (values.json) {
    await terminal.stdout(`${JSON.stringify(result, null, 2)}\n`);
  } else {
    await terminal.stdout(summary(result));
  }
  return 0;
}

type Values = ReturnType<typeof parseOrThrow>["values"];

function parse(args: readonly string[]): { manifest: string; values: Values } {
  const { values, positionals } = parseOrThrow(args);
  const [manifest, ...more] = positionals;
  if (manifest === undefined || more.length > 0) {
    throw new UsageError("Give exactly one manifest");
  }
  for (const [name, value] of Object.entries(values)) {
    if (value === "") throw new UsageError(`--${name} needs a value`);
  }
  if (values["identity-token"] && values["identity-token-file"]) {
    throw new UsageError("Give one identity token, not two");
  }
  for (const name of ["fulcio-url", "rekor-url", "tsa-url"] as const) {
    requireUrl(name, values[name]);
  }
  return { manifest, values };
}

function parseOrThrow(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        target: { type: "string" },
        bridge: { type: "string" },
        out: { type: "string" },
        "identity-token-file": { type: "string" },
        "identity-token": { type: "string" },
        "fulcio-url": { type: "string" },
        "rekor-url": { type: "string" },
        "tsa-url": { type: "string" },
        "trusted-root": { type: "string", multiple: true },
        json: { type: "boolean" },
      },
    });
  } catch (error) {
    // The message may quote what was given, and that may be a token.
    const message = error instanceof Error ? error.message : "Bad option";
    throw new UsageError(redact(message));
  }
}

function requireUrl(name: string, value: string | undefined): void {
  if (value === undefined) return;
  const { protocol, hostname } = URL.parse(value) ?? {};
  // The identity token travels there: in clear only where it stays on this machine.
  const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(
    hostname ?? "",
  );
  if (protocol !== "https:" && !(protocol === "http:" && loopback)) {
    throw new UsageError(
      `--${name} must be an https URL (http on loopback only)`,
    );
  }
}

async function optionsOf(
  values: Values,
  terminal: Terminal,
): Promise<SignOptions> {
  const services = servicesOf(values);
  const roots = values["trusted-root"];
  return {
    token: () => findToken(values, terminal),
    ...(values.target !== undefined && { target: values.target }),
    ...(values.bridge !== undefined && { bridge: values.bridge }),
    ...(values.out !== undefined && { signatureFile: values.out }),
    ...(services && { services }),
    ...(roots &&
      { trustedRoots: await Promise.all(roots.map(loadTrustedRoot)) }),
  };
}

/** @returns Nothing when the public-good services are used. */
function servicesOf(values: Values): SigningServices | undefined {
  const fulcioUrl = values["fulcio-url"];
  const rekorUrl = values["rekor-url"];
  const tsaUrl = values["tsa-url"];
  if (fulcioUrl === undefined && rekorUrl === undefined && !tsaUrl) {
    return undefined;
  }
  return {
    fulcioUrl: fulcioUrl ?? PUBLIC_GOOD.fulcioUrl,
    rekorUrl: rekorUrl ?? PUBLIC_GOOD.rekorUrl,
    ...(tsaUrl !== undefined && { tsaUrl }),
  };
}

const MAX_TOKEN_BYTES = 64 * 1024;

async function findToken(values: Values, terminal: Terminal) {
  const file = values["identity-token-file"];
  const token = values["identity-token"];
  return await findIdentityToken({
    ...(token !== undefined && { token }),
    ...(file !== undefined && { tokenFile: await readToken(file, terminal) }),
    ...environment({
      sigstoreIdToken: "SIGSTORE_ID_TOKEN",
      actionsRequestUrl: "ACTIONS_ID_TOKEN_REQUEST_URL",
      actionsRequestToken: "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    }),
    fetch,
    now: new Date(),
  });
}

async function readToken(file: string, terminal: Terminal): Promise<string> {
  if (file === "-") {
    return new TextDecoder().decode(await terminal.stdin(MAX_TOKEN_BYTES));
  }
  try {
    return await Deno.readTextFile(file);
  } catch (cause) {
    throw new PackerError(
      "SIGNING_FAILED",
      `Cannot read the identity token from "${file}": ${reasonOf(cause)}`,
      { cause, hint: "Give a file with the token, or - for standard input" },
    );
  }
}

/** What is set; a variable that may not be read counts as not set. */
function environment(
  names: Readonly<Record<string, string>>,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, name] of Object.entries(names)) {
    try {
      const value = Deno.env.get(name);
      if (value) found[key] = value;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) throw error;
    }
  }
  return found;
}

function summary(result: SignResult): string {
  return `Signed for ${result.target}
  signature  ${result.written}
  identity   ${result.certificate_identity}
  issuer     ${result.certificate_oidc_issuer}
  rekor uuid ${result.rekor_uuid}
  verified   ${
    result.verified
      ? "yes"
      : "no: no trusted root at hand knows these services; give --trusted-root"
  }
`;
}
