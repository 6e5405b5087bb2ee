/** The trusted roots that come with this program: never fetched, never cached. */
import type { TrustedRootSource } from "../sigstore/trusted_root.ts";
import bootstrapEntries from "./bootstrap_entries.json" with { type: "json" };
import bootstrapRoot from "./bootstrap_root.json" with { type: "json" };
import publicGoodRoot from "./public_good_root.json" with { type: "json" };

/**
 * - The public-good Sigstore, as `@sigstore/tuf` carries it.
 * - The root under which the manifests of this repository are signed until the
 *   first release from CI. Its private keys are gone; lest that need believing,
 *   it vouches for the log entries listed beside it and for nothing else.
 */
export function builtInRoots(): readonly TrustedRootSource[] {
  return [
    { name: "public-good Sigstore", json: publicGoodRoot },
    {
      name: "CyberOS development signing",
      json: bootstrapRoot,
      onlyEntries: bootstrapEntries,
    },
  ];
}
