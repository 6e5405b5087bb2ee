/** URLs that lead where they say, encrypted. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { objectOf, objectsIn, textOf } from "./parts.ts";

// `http:/x` parses as a URL, and is none.
const WEB = /^https?:\/\/[^/]/i;

const SECRET =
  /^(api[-_]?key|access[-_]?token|token|secret|client[-_]?secret|password|passwd|auth)$/i;

/** Endpoints that get tokens or audit rows must be https outside loopback; home pages http or https. */
export function checkUrls(manifest: JsonObject, faults: FaultCollector): void {
  const auth = objectOf(manifest.auth);
  const audit = objectOf(manifest.audit);
  const endpoints = [
    ["/auth/authorize_url", textOf(auth, "authorize_url"), 7],
    ["/auth/token_url", textOf(auth, "token_url"), 7],
    ["/audit/endpoint", textOf(audit, "endpoint"), 1],
  ] as const;
  for (const [pointer, text, clause] of endpoints) {
    if (text === undefined || faults.has(pointer)) continue;
    checkEndpoint(text, pointer, clause, faults);
  }
  for (
    const { value, json_pointer } of objectsIn(manifest.authors, "/authors")
  ) {
    const text = textOf(value, "url");
    if (text === undefined || faults.has(`${json_pointer}/url`)) continue;
    if (WEB.test(text) && isWeb(parse(text))) continue;
    faults.add({
      json_pointer: `${json_pointer}/url`,
      constraint: "format",
      expected: "http or https",
      actual: text,
      message: "Author's URL must be an absolute http or https URL",
      hint: per(1, "Write a URL such as https://example.com"),
    });
  }
}

function checkEndpoint(
  text: string,
  pointer: string,
  clause: number,
  faults: FaultCollector,
): void {
  const url = parse(text);
  const [constraint, what, advice] = url === undefined
    ? ["format", "is no URL with a host", "Write an absolute https URL"]
    : endpointFault(url, text);
  if (constraint === "") return;
  faults.add({
    json_pointer: pointer,
    constraint,
    expected: "https",
    actual: url === undefined ? text : url.protocol.slice(0, -1),
    message: `${pointer.slice(1).replace("/", ".")} ${what}`,
    hint: per(clause, advice),
  });
}

function endpointFault(
  url: URL,
  text: string,
): readonly [constraint: string, what: string, advice: string] {
  if (url.username !== "" || url.password !== "") {
    return [
      "url_credentials",
      "has a user name or password in it",
      "Remove them; a bundle must hold no secret",
    ];
  }
  const secret = [...url.searchParams.keys()].find((name) => SECRET.test(name));
  if (secret !== undefined) {
    return [
      "url_credentials",
      `has '${secret.slice(0, 40)}' in its query`,
      "Remove it; a bundle must hold no secret",
    ];
  }
  if (!WEB.test(text) || !isWeb(url)) {
    return ["https", "must be an https URL", "Write an https URL"];
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return [
      "https",
      "must be https outside loopback",
      "Write https; tokens and audit rows must not travel in the clear",
    ];
  }
  return url.hash === ""
    ? ["", "", ""]
    : ["url_fragment", "must not have a fragment", "Remove the part after '#'"];
}

function parse(text: string | undefined): URL | undefined {
  return text === undefined || text.length > 2048
    ? undefined
    : URL.parse(text) ?? undefined;
}

function isWeb(url: URL | undefined): boolean {
  return url !== undefined &&
    (url.protocol === "https:" || url.protocol === "http:") &&
    url.hostname !== "";
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") ||
    hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
