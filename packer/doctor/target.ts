/** Which host a bundle was packed for. */
import type { JsonObject } from "../../schema/json.ts";
import { Buffer } from "node:buffer";
import { HOSTS } from "../hosts/mod.ts";
import { type BundleEntry, type Target, TARGETS } from "../types.ts";

/**
 * Takes the target from what the signature claims, and from the layout where
 * there is no signature. A wrong claim cannot help a liar: the target is part of
 * the signed statement, and the layout is compared with the target's own.
 */
export function detectTarget(
  entries: readonly BundleEntry[],
  manifest: JsonObject,
): Target {
  return claimedTarget(manifest) ?? targetOfLayout(entries);
}

function claimedTarget({ signature }: JsonObject): Target | undefined {
  const { sigstore_bundle: text } = (signature ?? {}) as Record<
    string,
    unknown
  >;
  try {
    const json = Buffer.from(String(text), "base64").toString("utf8");
    const { payload } = JSON.parse(json).dsseEnvelope;
    const statement = Buffer.from(payload, "base64").toString("utf8");
    const claim = JSON.parse(statement).predicate.target;
    return TARGETS.find((target) => target === claim);
  } catch {
    return undefined;
  }
}

function targetOfLayout(entries: readonly BundleEntry[]): Target {
  const paths = new Set(entries.map(({ path }) => path));
  return TARGETS.find((target) =>
    HOSTS[target].generatedPaths.every((path) => paths.has(path))
  ) ?? "claude-code";
}
