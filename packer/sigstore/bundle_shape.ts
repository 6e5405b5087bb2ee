/** The one JSON shape of a Sigstore bundle that a plugin's signature may have. */
import { Buffer } from "node:buffer";

type Leaf = "text" | "bytes" | "decimal";
type Shape = Leaf | readonly [Shape] | { readonly [member: string]: Shape };

// The protobuf reader skips unknown members and takes sloppy base64: both would
// be places to hide things that no signature covers.
// Source: sigstore_bundle.proto, message Bundle, as v0.3 JSON.
const BUNDLE: Shape = {
  mediaType: "text",
  verificationMaterial: {
    certificate: { rawBytes: "bytes" },
    tlogEntries: [{
      logIndex: "decimal",
      logId: { keyId: "bytes" },
      kindVersion: { kind: "text", version: "text" },
      integratedTime: "decimal",
      inclusionPromise: { signedEntryTimestamp: "bytes" },
      inclusionProof: {
        logIndex: "decimal",
        rootHash: "bytes",
        treeSize: "decimal",
        hashes: ["bytes"],
        checkpoint: { envelope: "text" },
      },
      canonicalizedBody: "bytes",
    }],
    timestampVerificationData: {
      rfc3161Timestamps: [{ signedTimestamp: "bytes" }],
    },
  },
  dsseEnvelope: {
    payload: "bytes",
    payloadType: "text",
    signatures: [{ sig: "bytes", keyid: "text" }],
  },
};

const DECIMAL = /^(0|[1-9][0-9]{0,18})$/;

/**
 * @returns What is out of shape, as a path and a reason; nothing when all is well.
 *   Missing members are not its business: the library asks for those.
 */
export function shapeFault(bundle: unknown): string | undefined {
  return fault(bundle, BUNDLE, "the bundle");
}

function fault(value: unknown, shape: Shape, at: string): string | undefined {
  if (typeof shape === "string") return leafFault(value, shape, at);
  if (isList(shape)) {
    if (!Array.isArray(value)) return `${at} is not a list`;
    return first(value, (item, i) => fault(item, shape[0], `${at}[${i}]`));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${at} is not an object`;
  }
  return first(Object.entries(value), ([name, member]) => {
    const inner = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return inner === undefined
      ? `${at} has an unknown member`
      : fault(member, inner, name);
  });
}

function isList(shape: Exclude<Shape, Leaf>): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function leafFault(value: unknown, leaf: Leaf, at: string): string | undefined {
  if (typeof value !== "string") return `${at} is not a text`;
  if (leaf === "decimal" && !DECIMAL.test(value)) return `${at} is no number`;
  if (
    leaf === "bytes" &&
    Buffer.from(value, "base64").toString("base64") !== value
  ) {
    return `${at} is not base64`;
  }
  return undefined;
}

function first<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [i, item] of items.entries()) {
    const found = check(item, i);
    if (found !== undefined) return found;
  }
  return undefined;
}
