/** Finds and reads the manifest of an opened bundle. */
import type { JsonObject } from "../../schema/json.ts";
import type { Finding } from "../../schema/finding.ts";
import { MANIFEST_LIMITS } from "../../schema/strict_json/mod.ts";
import { validateManifest } from "../../schema/validate.ts";
import { canonicalBytes, findManifestPath } from "../content.ts";
import type { BundleEntry } from "../types.ts";
import { display } from "../zip/directory.ts";
import type { DoctorFinding } from "./verdicts.ts";

/** A manifest that is at least JSON. */
export interface ReadManifest {
  readonly path: string;
  readonly value: JsonObject;
  /** Errors of the manifest's contract. */
  readonly issues: readonly Finding[];
  /** Set when the bytes are not the RFC 8785 form of their value. */
  readonly notCanonical?: DoctorFinding;
}

/** Reads the manifest, or says why there is none to read. */
export async function readManifest(
  entries: readonly BundleEntry[],
): Promise<ReadManifest | DoctorFinding> {
  const path = findManifestPath(entries.map((entry) => entry.path));
  const entry = entries.find((entry) => entry.path === path);
  if (path === undefined || entry === undefined) return missing(entries);
  const bytes = entry.size > MANIFEST_LIMITS.maxBytes
    ? undefined
    : await entry.read();
  if (bytes === undefined) {
    return notJson(path, `it is over ${MANIFEST_LIMITS.maxBytes} bytes`);
  }
  const value = parse(bytes);
  if (typeof value === "string") return notJson(path, value);
  const { findings } = await validateManifest(bytes);
  const notCanonical = differs(bytes, value)
    ? {
      code: "MANIFEST_NOT_CANONICAL" as const,
      message:
        `"${path}" is not in canonical form (RFC 8785): duplicate keys, other order or white space`,
      path,
    }
    : undefined;
  return {
    path,
    value,
    // A text that is not canonical may be faulted for just that.
    issues: notCanonical === undefined
      ? findings.filter(({ severity }) => severity === "error")
      : [],
    ...(notCanonical && { notCanonical }),
  };
}

/** @returns The object, or the reason why there is none. */
function parse(bytes: Uint8Array): JsonObject | string {
  let text: string;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    text = decoder.decode(bytes);
  } catch {
    return "it is not UTF-8";
  }
  if (text.startsWith("\ufeff")) return "it starts with a byte order mark";
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value
      : "it holds no object";
  } catch {
    return "it is not JSON";
  }
}

function differs(bytes: Uint8Array, value: JsonObject): boolean {
  try {
    const canonical = canonicalBytes(value);
    return canonical.length !== bytes.length ||
      canonical.some((byte, i) => byte !== bytes[i]);
  } catch {
    return true;
  }
}

function notJson(path: string, reason: string): DoctorFinding {
  return {
    code: "MANIFEST_JSON",
    message: `Cannot read "${path}": ${reason}`,
    path,
  };
}

function missing(entries: readonly BundleEntry[]): DoctorFinding {
  const nested = entries.find(({ path }) => /^[^/]+\/plugin\.json$/.test(path));
  return {
    code: "MANIFEST_MISSING",
    message: nested === undefined
      ? 'There is no "plugin.json": this is not a CyberOS plugin'
      : `There is no "plugin.json" at the top, only "${
        display(nested.path)
      }": pack the folder's content, not the folder`,
  };
}
