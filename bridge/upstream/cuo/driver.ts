/** The ways to speak to CUO, behind one interface. */
import type { JsonObject } from "../../../schema/json.ts";
import type { BridgeError } from "../../errors.ts";
import type { Span } from "../../ports.ts";
import type { Persona, Progress, Route, Workflow } from "../../types.ts";

/** What a short call is told. */
export interface DriverCall {
  /** The call's own span. */
  readonly span: Span;
  /** Carries both deadline and cancellation. */
  readonly signal: AbortSignal;
}

/** What a run is told. */
export interface DriverRun extends DriverCall {
  readonly taskId: string;
  readonly onProgress: (progress: Progress) => void;
}

/** A workflow with its inputs. */
export interface WorkflowRun {
  readonly persona: string;
  readonly workflow: string;
  readonly inputs: JsonObject;
}

/**
 * A protocol to CUO. Methods throw `BridgeError`, the signal's reason, or
 * {@link CuoRefusal} where CUO lives and says no.
 */
export interface CuoDriver {
  /** For the span: `jsonrpc`, `cli`, `http`. */
  readonly protocol: string;
  listPersonas(call: DriverCall): Promise<readonly Persona[]>;
  listWorkflows(
    persona: string,
    call: DriverCall,
  ): Promise<readonly Workflow[]>;
  route(query: string, call: DriverCall): Promise<Route>;
  /** Resolves, or rejects, once everything that the run started has ended. */
  execute(run: WorkflowRun, call: DriverRun): Promise<JsonObject>;
  /** Ends children and connections. */
  close(): Promise<void>;
}

/** CUO works but did not do what it was asked: names may be unknown, inputs wrong. */
export class CuoRefusal extends Error {
  override readonly name = "CuoRefusal";
  readonly kind: "invalid" | "unknown method" | "failed";
  readonly detail: string;
  readonly otherwise: BridgeError | undefined;

  /**
   * @param kind What is known of the reason.
   * @param detail For the log: a code, never CUO's own words.
   * @param otherwise What the caller is told if all names turn out to be known.
   */
  constructor(
    kind: "invalid" | "unknown method" | "failed",
    detail: string,
    otherwise?: BridgeError,
  ) {
    super(`CUO refused: ${kind} (${detail})`);
    this.kind = kind;
    this.detail = detail;
    this.otherwise = otherwise;
  }
}
