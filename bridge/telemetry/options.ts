/** OpenTelemetry's standard environment variables. */
import {
  createSampler,
  type Sampler,
  type SamplerName,
  SAMPLERS,
} from "./sampler.ts";

/** What the environment says of telemetry. */
export interface OtelOptions {
  /** The traces URL; `undefined` when nothing is to be sent. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  readonly timeoutMs: number;
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  readonly delayMs: number;
  /** Settings that were ignored, and why. */
  readonly warnings: readonly string[];
}

/**
 * Reads the variables. Whatever is malformed is ignored with a warning, as
 * OpenTelemetry asks: telemetry never keeps a service from starting.
 *
 * Source: OpenTelemetry environment variable specification 1.x.
 */
export function readOtelOptions(
  env: (name: string) => string | undefined,
  service: { readonly name: string; readonly version: string },
): OtelOptions {
  const warnings: string[] = [];
  const get = (name: string) => env(name)?.trim() || undefined;
  const traces = (suffix: string) =>
    get(`OTEL_EXPORTER_OTLP_TRACES_${suffix}`) ??
      get(`OTEL_EXPORTER_OTLP_${suffix}`);
  const count = (
    name: string,
    value: string | undefined,
    fallback: number,
    max: number,
  ) => {
    if (value === undefined) return fallback;
    if (/^\d{1,9}$/.test(value) && Number(value) >= 1) {
      return Math.min(Number(value), max);
    }
    warnings.push(`${name} is not a whole number above 0`);
    return fallback;
  };
  return {
    url: tracesUrl(get, warnings),
    headers: pairs("OTEL_EXPORTER_OTLP_HEADERS", traces("HEADERS"), warnings),
    resource: {
      "service.version": service.version,
      ...pairs(
        "OTEL_RESOURCE_ATTRIBUTES",
        get("OTEL_RESOURCE_ATTRIBUTES"),
        warnings,
      ),
      "service.name": get("OTEL_SERVICE_NAME") ?? service.name,
    },
    sampler: sampler(get, warnings),
    timeoutMs: count(
      "OTEL_EXPORTER_OTLP_TIMEOUT",
      traces("TIMEOUT"),
      10_000,
      60_000,
    ),
    maxQueueSize: count(
      "OTEL_BSP_MAX_QUEUE_SIZE",
      get("OTEL_BSP_MAX_QUEUE_SIZE"),
      2048,
      65_536,
    ),
    maxBatchSize: count(
      "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
      get("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
      512,
      8192,
    ),
    delayMs: count(
      "OTEL_BSP_SCHEDULE_DELAY",
      get("OTEL_BSP_SCHEDULE_DELAY"),
      5000,
      60_000,
    ),
    warnings,
  };
}

type Get = (name: string) => string | undefined;

function tracesUrl(get: Get, warnings: string[]): string | undefined {
  if (get("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const exporter = get("OTEL_TRACES_EXPORTER");
  if (exporter === "none") return undefined;
  if (exporter !== undefined && exporter !== "otlp") {
    // A console exporter would write into the protocol on stdout.
    warnings.push(
      `OTEL_TRACES_EXPORTER="${
        exporter.slice(0, 40)
      }" is not offered; using otlp`,
    );
  }
  const protocol = get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ??
    get("OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol !== undefined && protocol !== "http/protobuf") {
    warnings.push(
      `OTLP protocol "${
        protocol.slice(0, 40)
      }" is not offered; using http/protobuf`,
    );
  }
  const whole = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const base = get("OTEL_EXPORTER_OTLP_ENDPOINT");
  const url = whole ??
    (base === undefined ? undefined : `${base.replace(/\/+$/, "")}/v1/traces`);
  if (url === undefined) return undefined;
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  warnings.push("the OTLP endpoint is not an http URL; no spans are sent");
  return undefined;
}

function pairs(
  name: string,
  text: string | undefined,
  warnings: string[],
): Record<string, string> {
  const found: Record<string, string> = {};
  for (
    const part of (text ?? "").split(",").filter((piece) => piece.trim() !== "")
  ) {
    const at = part.indexOf("=");
    const key = part.slice(0, Math.max(at, 0)).trim();
    const value = decode(part.slice(at + 1).trim());
    if (/^[\w.!#$%&'*+^`|~-]{1,128}$/.test(key) && value !== undefined) {
      found[key] = value;
    } else warnings.push(`${name} has a member that is not key=value`);
  }
  return found;
}

function decode(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text);
    // deno-lint-ignore no-control-regex -- a control character would split a header.
    return /[\x00-\x1f\x7f]/.test(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

function sampler(get: Get, warnings: string[]): Sampler {
  const asked = get("OTEL_TRACES_SAMPLER");
  const known = SAMPLERS.find((name) => name === asked);
  if (asked !== undefined && known === undefined) {
    warnings.push(
      `OTEL_TRACES_SAMPLER="${
        asked.slice(0, 40)
      }" is unknown; using the default`,
    );
  }
  const name: SamplerName = known ?? "parentbased_always_on";
  const argument = get("OTEL_TRACES_SAMPLER_ARG");
  const ratio = argument === undefined ? 1 : Number(argument);
  if (ratio >= 0 && ratio <= 1) return createSampler(name, ratio);
  warnings.push("OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1; using 1");
  return createSampler(name, 1);
}
