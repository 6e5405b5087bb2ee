/** Personas and workflows from the CUO that the operator has installed. */
import type { JsonObject } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type { Cuo, RunContext, UpstreamContext } from "../../ports.ts";
import type {
  DependencyStatus,
  Persona,
  Route,
  Workflow,
} from "../../types.ts";
import { abortError, startDeadline } from "../common/deadline.ts";
import { isOutage, Readiness } from "../common/readiness.ts";
import { isName } from "../common/shape.ts";
import { traced } from "../common/traced.ts";
import { CuoRefusal, type DriverCall, type WorkflowRun } from "./driver.ts";
import { type DriverSource, selectDriver } from "./select.ts";
import { type Names, refusalOf, unknownName } from "./names.ts";
import { CUO_LIMITS, type CuoLimits, type CuoOptions } from "./options.ts";

export type { CuoLimits, CuoOptions };

/**
 * Creates the port. Nothing is looked up, started or sent before the first call.
 *
 * Source: PRODUCT "Upstream contracts"; TASK-PLUGIN-002 §1 clause 4.
 */
export function createCuo(options: CuoOptions): Cuo {
  const limits = { ...CUO_LIMITS, ...options.limits };
  return new DrivenCuo(options, limits, selectDriver(options, limits));
}

class DrivenCuo implements Cuo {
  readonly #options: CuoOptions;
  readonly #limits: CuoLimits;
  readonly #source: DriverSource;
  readonly #readiness: Readiness;

  constructor(options: CuoOptions, limits: CuoLimits, source: DriverSource) {
    this.#options = options;
    this.#limits = limits;
    this.#source = source;
    this.#readiness = new Readiness({
      name: "cuo",
      freshMs: 15_000,
      timeoutMs: limits.shortCallMs,
      probe: (signal) => this.#probe(signal),
    });
  }

  listPersonas(context: UpstreamContext): Promise<readonly Persona[]> {
    return this.#short("list_personas", context, async (call) => {
      const driver = await this.#source.driver(call.signal);
      return await driver.listPersonas(call);
    });
  }

  listWorkflows(
    persona: string,
    context: UpstreamContext,
  ): Promise<readonly Workflow[]> {
    return this.#short("list_workflows", context, async (call) => {
      const driver = await this.#source.driver(call.signal);
      return await this.#named({ persona }, call, async () => {
        const workflows = await driver.listWorkflows(persona, call);
        // Some say nothing about a persona that they do not know.
        if (workflows.length === 0) {
          const unknown = await unknownName(driver, { persona }, call);
          if (unknown !== undefined) throw unknown;
        }
        return workflows;
      });
    });
  }

  route(query: string, context: UpstreamContext): Promise<Route> {
    return this.#short("route", context, async (call) => {
      const driver = await this.#source.driver(call.signal);
      return await driver.route(query, call);
    });
  }

  executeWorkflow(run: WorkflowRun, context: RunContext): Promise<JsonObject> {
    return this.#traced("execute_workflow", context, async (span) => {
      const call = {
        span,
        signal: context.signal,
        taskId: context.taskId,
        onProgress: context.onProgress,
      };
      const driver = await this.#source.driver(call.signal);
      span.set({ "cyberos.cuo.protocol": driver.protocol });
      const { persona, workflow } = run;
      return await this.#named(
        { persona, workflow },
        call,
        () => driver.execute(run, call),
      );
    });
  }

  status(signal: AbortSignal): Promise<DependencyStatus> {
    return this.#readiness.status(signal);
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  #short<T>(
    method: string,
    context: UpstreamContext,
    work: (call: DriverCall) => Promise<T>,
  ): Promise<T> {
    return this.#traced(method, context, async (span) => {
      const deadline = startDeadline(context.signal, this.#limits.shortCallMs);
      try {
        return await work({ span, signal: deadline.signal });
      } catch (error) {
        throw deadline.signal.aborted
          ? abortError(deadline.signal, "CUO")
          : error;
      } finally {
        deadline.end();
      }
    });
  }

  #traced<T>(
    method: string,
    context: UpstreamContext,
    work: (span: DriverCall["span"]) => Promise<T>,
  ): Promise<T> {
    const attributes = {
      "cyberos.upstream": "cuo",
      "rpc.service": "cuo",
      "rpc.method": method,
    };
    return traced(
      this.#options.telemetry,
      context,
      `cuo.${method}`,
      attributes,
      async (span) => {
        try {
          return await work(span);
        } catch (error) {
          const refusal = this.#refusal(error, context.signal, span);
          if (isOutage(refusal)) this.#readiness.doubt();
          throw refusal;
        }
      },
    );
  }

  /** Runs work that names a persona and perhaps a workflow; a no of CUO is looked into. */
  async #named<T>(
    names: Names,
    call: DriverCall,
    work: () => Promise<T>,
  ): Promise<T> {
    const driver = await this.#source.driver(call.signal);
    const odd = !isName(names.persona) || !isName(names.workflow ?? "x");
    try {
      // What cannot be a name never reaches a command line.
      if (odd) throw new CuoRefusal("invalid", "not a name");
      return await work();
    } catch (error) {
      if (!(error instanceof CuoRefusal) || call.signal.aborted) throw error;
      throw await unknownName(driver, names, call) ?? error;
    }
  }

  #refusal(
    error: unknown,
    signal: AbortSignal,
    span: DriverCall["span"],
  ): unknown {
    if (error instanceof CuoRefusal) {
      this.#options.log.warn("cuo refused", {
        detail: error.detail,
        trace_id: span.context.traceId,
      });
      return refusalOf(error);
    }
    if (error instanceof BridgeError) return error;
    return signal.aborted ? abortError(signal, "CUO") : error;
  }

  async #probe(signal: AbortSignal): Promise<DependencyStatus> {
    const name = "cuo";
    const span = this.#options.telemetry.startSpan("cuo.probe", {
      kind: "client",
    });
    try {
      const driver = await this.#source.driver(signal);
      await driver.listPersonas({ span, signal });
      span.end();
      return { name, state: "ok" };
    } catch (error) {
      span.end("upstream_unavailable");
      if (!(error instanceof BridgeError)) throw error;
      return {
        name,
        state: error.code === "UPSTREAM_NOT_CONFIGURED"
          ? "not configured"
          : "down",
        detail: error.message,
      };
    }
  }
}
