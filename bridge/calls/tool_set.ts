/** What a mounted tool is. The protocol serves any set of them; {@link cyberosTools} makes ours. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import type { ArgumentIssue } from "../errors.ts";
import type { UpstreamContext } from "../ports.ts";
import type { Principal, Progress, TaskView } from "../types.ts";
import type { LogLevel } from "./log_level.ts";

/** What a tool is told about the call. */
export interface ToolContext extends UpstreamContext {
  /** Reports progress to a caller that asked for it; else does nothing. */
  readonly onProgress: (progress: Progress) => void;
  /** Sends a log message to the client, if it wants that level. No arguments, results or tokens in it. */
  readonly log: (level: LogLevel, data: JsonValue) => void;
  /** Present when the caller wants an MCP task handle instead of an answer. */
  readonly task?: { readonly ttlMs?: number };
  /** What {@link Tool.earlier} found: to be answered instead of starting anything. */
  readonly earlier?: TaskView;
  /** The same for every replay of one confirmation, so that a replay repeats nothing. */
  readonly replayKey?: string;
}

/** What a tool answers. */
export type ToolAnswer =
  | {
    readonly kind: "result";
    /** Must match the tool's `outputSchema`, where it has one. */
    readonly structured?: JsonObject;
    /** MCP content blocks; the structured answer as text where absent. */
    readonly content?: readonly JsonObject[];
    readonly isError?: boolean;
  }
  /** The handle that the caller asked for. */
  | { readonly kind: "created"; readonly task: TaskView }
  /** Where the task of this call stands. */
  | { readonly kind: "state"; readonly task: TaskView };

/** One tool, ready to be called. */
export interface Tool {
  readonly name: string;
  /** Its entry of `tools/list`. */
  readonly listing: JsonObject;
  /** Every scope that a caller needs. */
  readonly scopes: readonly string[];
  /** Destructive or external effect: the person must confirm (PRODUCT decision D5). */
  readonly needsConfirmation: boolean;
  /** Whether `params.task` is accepted. */
  readonly longRunning: boolean;
  /** All faults of the arguments, none when they fit. Pointers start at `/arguments`. */
  validate(args: JsonObject): Promise<readonly ArgumentIssue[]>;
  /** The question to the person, where {@link Tool.needsConfirmation}. */
  question?(args: JsonObject): string;
  /**
   * The task that an earlier, confirmed call of the same key started, where the
   * call only asks how it goes: nobody need confirm that.
   *
   * @throws {BridgeError} `CONFLICT`, `STORE_UNAVAILABLE`.
   */
  earlier?(
    args: JsonObject,
    principal: Principal,
  ): Promise<TaskView | undefined>;
  /** Runs the tool on arguments that fit. @throws {BridgeError} What went wrong; any other throw is a bug. */
  call(args: JsonObject, context: ToolContext): Promise<ToolAnswer>;
}

/** The tools that a server offers. */
export interface ToolSet {
  /** `result` of `tools/list`: always the same object, so that it can be encoded once. */
  readonly listing: JsonObject;
  /** The tool of exactly this name. */
  find(name: string): Tool | undefined;
}

/** Makes a set of the tools, listed in this order. */
export function createToolSet(tools: readonly Tool[]): ToolSet {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    listing: { tools: tools.map((tool) => tool.listing) },
    find: (name) => byName.get(name),
  };
}
