/** SPDX licence expressions. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { textOf } from "./parts.ts";

/** Most manifests have one of these, for which the list of all licences need not be loaded. */
const COMMON: ReadonlySet<string> = new Set([
  "AGPL-3.0-only",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BUSL-1.1",
  "GPL-3.0-only",
  "GPL-3.0-or-later",
  "ISC",
  "MIT",
  "MIT OR Apache-2.0",
  "MPL-2.0",
  "Unlicense",
]);

// Longer ones are no licence, and nested brackets cost the parser its stack.
const MAX_LENGTH = 256;
const MAX_BRACKETS = 32;

/** The licence is an SPDX identifier or expression. */
export async function checkLicence(
  manifest: JsonObject,
  faults: FaultCollector,
): Promise<void> {
  const licence = textOf(manifest, "license");
  if (licence === undefined || licence === "" || licence.length > MAX_LENGTH) {
    return;
  }
  if (COMMON.has(licence) || await isExpression(licence)) return;
  faults.add({
    json_pointer: "/license",
    constraint: "spdx",
    expected: "an SPDX licence expression",
    actual: licence,
    message: `Licence '${licence.slice(0, 80)}' is not an SPDX expression`,
    hint: per(
      1,
      "Write an identifier of spdx.org/licenses such as Apache-2.0, an expression such as MIT OR Apache-2.0, or LicenseRef-Proprietary for terms of your own",
    ),
  });
}

async function isExpression(text: string): Promise<boolean> {
  if (text.split("(").length > MAX_BRACKETS || text.trim() !== text) {
    return false;
  }
  const { default: parse } = await import("spdx-expression-parse");
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
