/** What a tool answered, as MCP results. */
import type { JsonObject } from "../../schema/json.ts";
import type { ToolAnswer } from "../calls/tool_set.ts";
import type { TaskView } from "../types.ts";
import { toMcpTask, toTaskState } from "./task_results.ts";

/**
 * Encodes an answer as `CallToolResult`, or as `CreateTaskResult` where the
 * caller asked for a task.
 */
export function toCallResult(answer: ToolAnswer): JsonObject {
  if (answer.kind === "created") return { task: toMcpTask(answer.task) };
  if (answer.kind === "state") return toStateResult(answer.task);
  const { structured, content, isError = false } = answer;
  return {
    content: content ?? [textOf(structured ?? {})],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    isError,
  };
}

/** Where a task stands as `CallToolResult`: what a call without `params.task` answers. */
export function toStateResult(task: TaskView): JsonObject {
  const state = toTaskState(task);
  return {
    content: [textOf(state)],
    structuredContent: state,
    isError: task.status === "failed",
  };
}

function textOf(value: JsonObject): JsonObject {
  return { type: "text", text: JSON.stringify(value) };
}
