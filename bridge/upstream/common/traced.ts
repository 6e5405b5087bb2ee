/** One child span per upstream call. */
import { BridgeError } from "../../errors.ts";
import type { Span, Telemetry, UpstreamContext } from "../../ports.ts";

/** Attribute values that a span may carry; never arguments, results or tokens. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/**
 * Runs the work under a client span of the caller's span and ends it with the
 * error class of what the work threw.
 *
 * @throws {BridgeError} Always a refusal: anything else that the work throws is
 * a bug and becomes `INTERNAL` with its cause kept for the log.
 */
export async function traced<T>(
  telemetry: Telemetry,
  context: Pick<UpstreamContext, "span">,
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = telemetry.startSpan(name, {
    kind: "client",
    attributes,
    parent: context.span.context,
  });
  try {
    const result = await work(span);
    span.end();
    return result;
  } catch (error) {
    const refusal = asRefusal(error);
    span.set({ "cyberos.error_code": refusal.code });
    span.end(error instanceof BridgeError ? refusal.class : "panic");
    throw refusal;
  }
}

function asRefusal(error: unknown): BridgeError {
  return error instanceof BridgeError
    ? error
    : new BridgeError("INTERNAL", "Internal error", { cause: error });
}
