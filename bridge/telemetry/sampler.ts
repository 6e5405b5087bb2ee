/** Which traces are recorded. */

/** OpenTelemetry's standard sampler names, as in `OTEL_TRACES_SAMPLER`. */
export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** One of {@link SAMPLERS}. */
export type SamplerName = (typeof SAMPLERS)[number];

/** Decides for a new span. `parentSampled` is `undefined` for a root. */
export type Sampler = (
  traceId: string,
  parentSampled: boolean | undefined,
) => boolean;

/**
 * Creates a sampler.
 *
 * @param ratio 0 to 1, for the two ratio samplers. The same trace id always
 * gives the same answer, so that all services keep or drop a trace together.
 *
 * Source: OpenTelemetry SDK specification, "Built-in samplers".
 */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = name.replace("parentbased_", "");
  const limit = Math.floor(ratio * 0x100000000);
  const decide = (traceId: string): boolean => {
    if (root === "always_on") return true;
    if (root === "always_off") return false;
    return Number.parseInt(traceId.slice(24), 16) < limit;
  };
  if (!name.startsWith("parentbased_")) return (traceId) => decide(traceId);
  return (traceId, parentSampled) => parentSampled ?? decide(traceId);
}
