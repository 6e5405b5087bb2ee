/** Asks the transparency log itself whether it has the entry. */
import { Buffer } from "node:buffer";
import type { VerifiedSignature } from "./verify_signature.ts";
import { SignatureRefusal } from "./refusal.ts";

/** How the log is asked. */
export interface OnlineOptions {
  /** Base URL; the trusted root's own when absent. */
  readonly rekorUrl?: string;
  readonly fetch: typeof fetch;
  readonly timeoutMs?: number;
}

/** An entry as `GET /api/v1/log/entries/{uuid}` gives it. */
interface RekorEntry {
  readonly body: string;
  readonly integratedTime: number;
  readonly logID: string;
  readonly logIndex: number;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/**
 * Fetches the entry by its UUID and compares body, log, index and time.
 *
 * @throws {SignatureRefusal} `REKOR_ENTRY_MISSING` when the log has none or
 *   another, `REKOR_UNREACHABLE` when the log gave no usable answer.
 */
export async function confirmInLog(
  verified: Pick<VerifiedSignature, "rekorUuid" | "entry" | "logUrl">,
  options: OnlineOptions,
): Promise<void> {
  const base = options.rekorUrl ?? verified.logUrl;
  if (base === undefined) {
    throw unreachable("The trusted root gives no address for the log");
  }
  const url = `${base.replace(/\/+$/, "")}/api/v1/log/entries/`;
  const answer = await ask(url + verified.rekorUuid, options);
  const [uuid, entry] = Object.entries(answer)[0] ?? [];
  const { logIdBase64, logIndex, integratedTime, body } = verified.entry;
  const differing = [
    ["UUID", uuid === verified.rekorUuid],
    ["body", entry?.body === Buffer.from(body).toString("base64")],
    [
      "log id",
      entry?.logID === Buffer.from(logIdBase64, "base64")
        .toString("hex"),
    ],
    ["index", String(entry?.logIndex) === logIndex],
    ["time", Number(entry?.integratedTime) * 1000 === integratedTime.getTime()],
  ].filter(([, equal]) => !equal).map(([name]) => name);
  if (differing.length > 0) {
    throw new SignatureRefusal(
      "REKOR_ENTRY_MISSING",
      `The log has another entry under this UUID: ${
        differing.join(", ")
      } differ`,
    );
  }
}

async function ask(
  url: string,
  { fetch, timeoutMs = TIMEOUT_MS }: OnlineOptions,
): Promise<Record<string, RekorEntry>> {
  try {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 404) {
      await response.body?.cancel();
      throw new SignatureRefusal(
        "REKOR_ENTRY_MISSING",
        "The log has no entry with this UUID",
      );
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw unreachable(`The log answered with HTTP status ${response.status}`);
    }
    const answer: unknown = JSON.parse(await boundedText(response));
    if (
      typeof answer === "object" && answer !== null && !Array.isArray(answer)
    ) {
      return answer as Record<string, RekorEntry>;
    }
    throw unreachable("The log's answer holds no entries");
  } catch (cause) {
    if (cause instanceof SignatureRefusal) throw cause;
    throw unreachable(
      `The log at ${new URL(url).origin} gave no answer`,
      cause,
    );
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) {
      throw unreachable(`The log's answer is over ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function unreachable(message: string, cause?: unknown): SignatureRefusal {
  return new SignatureRefusal("REKOR_UNREACHABLE", message, { cause });
}
