/** The bounded way from finished spans to a collector that may be away. */
import type { Logger } from "../ports.ts";
import type { SpanRecord } from "./span_record.ts";

/** Sends one batch; resolves with whether the collector took it. Never rejects. */
export type SendSpans = (
  batch: readonly SpanRecord[],
  signal: AbortSignal,
) => Promise<boolean>;

/** Bounds of a {@link SpanQueue}; OpenTelemetry's `OTEL_BSP_*`. */
export interface SpanQueueOptions {
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  /** How long a span may wait for its batch to fill, in milliseconds. */
  readonly delayMs: number;
  /** How long one export may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly send: SendSpans;
  readonly log: Logger;
}

/** Collects spans and sends them in batches, one batch at a time. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: SpanRecord[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #dropped = 0;
  #failing = false;
  #closed = false;

  /** Creates an empty queue; no timer runs until a span comes. */
  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  /** Spans that were given up, because the queue was full or the collector refused them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes a finished span. Never blocks: over the bound the newest span is dropped. */
  push(span: SpanRecord): void {
    if (this.#closed || this.#waiting.length >= this.#options.maxQueueSize) {
      this.#drop(1, "queue full");
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= this.#options.maxBatchSize) this.#start();
    else this.#schedule();
  }

  /** Sends all that waits, for at most `timeoutMs`; what is left then is dropped. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, timeoutMs);
    const drain = async () => {
      await this.#sending;
      while (this.#waiting.length > 0 && !this.#closed) await this.#sendBatch();
    };
    await Promise.race([drain(), timeout.promise]);
    clearTimeout(timer);
    this.#closed = true;
    if (this.#waiting.length > 0) {
      this.#drop(this.#waiting.length, "shutting down");
    }
    this.#waiting = [];
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#sending !== undefined) return;
    this.#timer = setTimeout(() => this.#start(), this.#options.delayMs);
    // A span that waits must not keep the process alive: close() sends it.
    Deno.unrefTimer(this.#timer);
  }

  #start(): void {
    if (this.#sending !== undefined || this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sendBatch().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length >= this.#options.maxBatchSize) this.#start();
      else if (this.#waiting.length > 0) this.#schedule();
    });
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxBatchSize);
    const sent = await this.#options.send(
      batch,
      AbortSignal.timeout(this.#options.timeoutMs),
    );
    if (!sent) this.#drop(batch.length, "collector unreachable or refusing");
    else if (this.#failing) {
      this.#failing = false;
      this.#options.log.info("telemetry.recovered", {
        dropped_spans: this.#dropped,
      });
    }
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count;
    // Logged once for each outage: a line for each span would be a second outage.
    if (this.#failing) return;
    this.#failing = true;
    this.#options.log.warn("telemetry.spans_dropped", {
      reason,
      dropped_spans: this.#dropped,
    });
  }
}
