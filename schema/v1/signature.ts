/** Whether a signature can be one. What it proves is `doctor`'s and `pack`'s part. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { objectOf, textOf } from "./parts.ts";

/** Warns of placeholders, which are right while a plugin is being written. */
export function checkSignature(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const signature = objectOf(manifest.signature);
  const uuid = textOf(signature, "rekor_uuid");
  const bundle = textOf(signature, "sigstore_bundle");
  if (uuid && !/^[0-9a-f]{80}$/.test(uuid)) {
    warn(faults, "rekor_uuid", "80 lower-case hexadecimal digits", uuid);
  }
  if (bundle && !isBase64OfJson(bundle)) {
    warn(faults, "sigstore_bundle", "base64 of a Sigstore bundle", bundle);
  }
}

function warn(
  faults: FaultCollector,
  member: string,
  expected: string,
  actual: string,
): void {
  faults.add({
    json_pointer: `/signature/${member}`,
    constraint: "signature_form",
    expected,
    actual,
    message: `signature.${member} is a placeholder, not ${expected}`,
    hint: per(
      8,
      "Run `cyberos-plugin sign` before you publish; hosts refuse the bundle until then",
    ),
    severity: "warning",
  });
}

function isBase64OfJson(text: string): boolean {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    return false;
  }
  return atob(text.slice(0, 4)).trimStart().startsWith("{");
}
