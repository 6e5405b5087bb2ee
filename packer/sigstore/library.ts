/** The Sigstore libraries, repaired for Deno and proven before their first use. */
import type * as bundleModule from "@sigstore/bundle";
import type * as coreModule from "@sigstore/core";
import type * as specsModule from "@sigstore/protobuf-specs";
import type * as verifyModule from "@sigstore/verify";
import { PackerError } from "../errors.ts";
import { commonJs } from "./common_js.ts";

/** What verification needs of the libraries. */
export interface Sigstore {
  readonly core: typeof coreModule;
  readonly bundle: typeof bundleModule;
  readonly specs: typeof specsModule;
  readonly verify: typeof verifyModule;
}

type Verify = typeof coreModule.crypto.verify;

const REPAIRED: unique symbol = Symbol.for("cyberos.sigstore.repaired");

/**
 * Loads the libraries on first use, repairs signature verification, and proves
 * on a real bundle that a good one is accepted and a damaged one refused.
 *
 * @throws {PackerError} `TRUST_ROOT_INVALID` when the proof fails: then nothing
 *   that this process says about signatures could be believed.
 */
export async function loadSigstore(): Promise<Sigstore> {
  const [core, bundle, specs, verify] = await Promise.all([
    import("@sigstore/core"),
    import("@sigstore/bundle"),
    import("@sigstore/protobuf-specs"),
    import("@sigstore/verify"),
  ]);
  const sigstore: Sigstore = {
    core: commonJs(core),
    bundle: commonJs(bundle),
    specs: commonJs(specs),
    verify: commonJs(verify),
  };
  const holder = sigstore.core.crypto as {
    verify: Verify & { [REPAIRED]?: true };
  };
  if (holder.verify[REPAIRED]) return sigstore;
  holder.verify = Object.assign(withDefaultDigest(holder.verify), {
    [REPAIRED]: true as const,
  });
  const { proveLibrary } = await import("./library_proof.ts");
  await proveLibrary(sigstore);
  return sigstore;
}

/**
 * Node verifies EC and RSA signatures with SHA-256 when no digest is named;
 * Deno throws, and `@sigstore/core` turns the throw into "not valid", so that
 * every genuine bundle would be refused.
 */
function withDefaultDigest(verify: Verify): Verify {
  return (data, key, signature, algorithm) =>
    verify(data, key, signature, algorithm ?? defaultDigest(key));
}

function defaultDigest(key: Parameters<Verify>[1]): string | undefined {
  const type = typeof key === "object" && "asymmetricKeyType" in key
    ? key.asymmetricKeyType
    : undefined;
  return type === "ec" || type === "rsa" ? "sha256" : undefined;
}

/** The error of a process whose Sigstore library cannot be relied on. */
export function libraryFault(message: string, cause?: unknown): PackerError {
  return new PackerError("TRUST_ROOT_INVALID", message, {
    cause,
    hint:
      "Nothing was verified; report this with the output of: deno --version",
  });
}
