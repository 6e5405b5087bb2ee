/** Puts a signature into a manifest's text and leaves the author's other bytes alone. */
import { parseStrictJson } from "../../schema/strict_json/mod.ts";
import { PackerError } from "../errors.ts";
import type { ManifestSignature } from "./sign_statement.ts";

/**
 * Replaces the `signature` member, or adds one at the end.
 *
 * Indentation and line ends are the text's own.
 *
 * @throws {PackerError} `MANIFEST_INVALID` when the text is not strict JSON with
 *   an object at the top.
 */
export function withSignature(
  text: string,
  signature: ManifestSignature,
): string {
  const { root, faults } = parseStrictJson(text);
  if (root?.members === undefined || faults.length > 0) {
    throw new PackerError(
      "MANIFEST_INVALID",
      `Cannot sign: the manifest is not a JSON object${
        faults[0] ? `, ${faults[0].message}` : ""
      }`,
      { hint: "Run: cyberos-plugin validate" },
    );
  }
  const member = root.members.get("signature");
  const style = styleOf(text, member?.keyStart ?? firstKey(root.members));
  const value = format(signature, style);
  if (member !== undefined) {
    const end = endOfValue(text, member.start);
    return text.slice(0, member.start) + value + text.slice(end);
  }
  return append(text, value, style, root.members.size === 0);
}

interface Style {
  /** Line end and indentation of a top-level member; empty for compact text. */
  readonly line: string;
  readonly indent: string;
}

function firstKey(members: ReadonlyMap<string, { keyStart: number }>): number {
  return [...members.values()][0]?.keyStart ?? 0;
}

function styleOf(text: string, keyStart: number): Style {
  const match = /(\r?\n)([ \t]*)$/.exec(text.slice(0, keyStart));
  return { line: match?.[1] ?? "", indent: match?.[2] ?? "" };
}

function format(signature: ManifestSignature, style: Style): string {
  const { sigstore_bundle, rekor_uuid } = signature;
  const members = [
    `"sigstore_bundle":${style.line && " "}${JSON.stringify(sigstore_bundle)}`,
    `"rekor_uuid":${style.line && " "}${JSON.stringify(rekor_uuid)}`,
  ];
  const { line, indent } = style;
  const inner = line + indent + indent;
  return `{${
    members.map((member) => inner + member).join(",")
  }${line}${indent}}`;
}

function append(
  text: string,
  value: string,
  style: Style,
  empty: boolean,
): string {
  const close = text.lastIndexOf("}");
  const before = text.slice(0, close).trimEnd();
  const { line, indent } = style;
  return `${before}${empty ? "" : ","}${line}${indent}"signature":${
    line && " "
  }${value}${line}${text.slice(close)}`;
}

/** Where a value that starts at `start` ends, in text known to be JSON. */
function endOfValue(text: string, start: number): number {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s"{}[\],:]+/y;
  let depth = 0;
  for (let at = start; at < text.length;) {
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    if (found === undefined) {
      at++;
      continue;
    }
    at += found.length;
    if (found === "{" || found === "[") depth++;
    if (found === "}" || found === "]") depth--;
    if (depth === 0) return at;
  }
  return text.length;
}
