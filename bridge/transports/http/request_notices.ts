/** The notifications of one request, before and after its answer became a stream. */
import type { JsonObject } from "../../../schema/json.ts";
import type { Answer } from "../../wire/admission.ts";
import { encodeMessage } from "../../wire/encode_message.ts";
import type { SetAlarm } from "./alarms.ts";
import type { EventStream } from "./event_stream.ts";

/** What comes first: the answer, or a reason to stream. */
export type FirstOutcome = { readonly answer: Answer } | "stream";

/** More than a call sends before its stream opens; the rest is dropped. */
const MAX_WAITING = 64;
/** Shared: nearly every request has none. */
const NONE: readonly string[] = [];

/** Holds notifications until there is a stream, and hands them on from then. */
export class RequestNotices {
  #waiting: readonly string[] = NONE;
  #stream: EventStream | undefined;
  #onFirst: (() => void) | undefined;

  /** Never throws. */
  send(method: string, params: JsonObject): void {
    const text = encodeMessage({ jsonrpc: "2.0", method, params });
    if (this.#stream) this.#stream.notify(text);
    else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting = [...this.#waiting, text];
    }
    this.#onFirst?.();
  }

  /** Sends what has waited, in order, and everything after it. */
  attach(stream: EventStream): void {
    this.#stream = stream;
    for (const text of this.#waiting) stream.notify(text);
    this.#waiting = NONE;
  }

  /** Waits for the answer; a notification or long silence before it calls for a stream. */
  firstOf(
    running: Promise<Answer>,
    silenceMs: number,
    setAlarm: SetAlarm,
  ): Promise<FirstOutcome> {
    if (this.#waiting.length > 0) return Promise.resolve("stream");
    return new Promise((resolve) => {
      this.#onFirst = () => resolve("stream");
      const stop = setAlarm(silenceMs, this.#onFirst);
      running.then((answer) => {
        stop();
        resolve({ answer });
      });
    });
  }
}
