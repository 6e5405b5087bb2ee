/** MCP's own JSON Schema over every message that a test sees. */
import assert from "node:assert/strict";
import { type Schema, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../../schema/json.ts";
import { findTool } from "../../schema/tools.ts";
import schema from "../fixtures/mcp-2025-11-25.schema.json" with {
  type: "json",
};

const validators = new Map<string, Validator>();

function validatorOf(definition: string): Validator {
  let validator = validators.get(definition);
  if (validator === undefined) {
    validator = new Validator(
      { ...schema, $ref: `#/$defs/${definition}` } as unknown as Schema,
      "2020-12",
      false,
    );
    validators.set(definition, validator);
  }
  return validator;
}

/** Asserts that the value is what MCP calls `definition`. */
export function assertMcp(definition: string, value: unknown): void {
  const { valid, errors } = validatorOf(definition).validate(value);
  assert.ok(
    valid,
    `not a valid ${definition}: ${JSON.stringify(errors.slice(-3))}\n${
      JSON.stringify(value).slice(0, 2000)
    }`,
  );
}

const RESULTS: Readonly<Record<string, string>> = {
  "initialize": "InitializeResult",
  "ping": "EmptyResult",
  "logging/setLevel": "EmptyResult",
  "tools/list": "ListToolsResult",
  "tasks/list": "ListTasksResult",
};

/** Asserts that a response to the request is MCP, and that structured content fits the tool's schema. */
export function assertResponse(
  request: { readonly method?: unknown; readonly params?: unknown },
  response: JsonObject,
): void {
  assert.equal(response["jsonrpc"], "2.0");
  assert.ok(Object.hasOwn(response, "id"));
  if (Object.hasOwn(response, "error")) return assertError(response);
  assertMcp("JSONRPCResultResponse", response);
  const result = response["result"] as JsonObject;
  const method = String(request.method);
  const params = (request.params ?? {}) as JsonObject;
  const definition = resultDefinition(method, params);
  assertMcp(definition, result);
  if (definition === "CallToolResult" && method === "tools/call") {
    assertStructured(String(params["name"]), result);
  }
}

// JSON-RPC 2.0 §5 demands a null id where the request's could not be read; MCP's
// schema knows only that it may be absent.
function assertError(response: JsonObject): void {
  const { id, ...rest } = response;
  assertMcp("JSONRPCErrorResponse", id === null ? rest : response);
  const { data } = response["error"] as { data: JsonObject };
  assert.match(String(data["trace_id"]), /^[0-9a-f]{32}$/);
  assert.ok(String(data["hint"]).length > 0);
  assert.ok(
    [
      "input_validation",
      "authz_denied",
      "upstream_unavailable",
      "internal_error",
    ].includes(String(data["class"])),
  );
  assert.equal(typeof data["retryable"], "boolean");
}

function resultDefinition(method: string, params: JsonObject): string {
  if (method === "tools/call") {
    return params["task"] === undefined ? "CallToolResult" : "CreateTaskResult";
  }
  if (method === "tasks/result") return "CallToolResult";
  const mcpDialect = params["taskId"] !== undefined;
  if (method === "tasks/get") return mcpDialect ? "GetTaskResult" : "Result";
  if (method === "tasks/cancel") {
    return mcpDialect ? "CancelTaskResult" : "Result";
  }
  return RESULTS[method] ?? "Result";
}

/** Asserts that a result carries what its tool's `outputSchema` promises, and the same as text. */
export function assertStructured(name: string, result: JsonObject): void {
  const tool = findTool(name);
  if (tool === undefined) return;
  const { structuredContent } = result;
  const { valid, errors } = new Validator(
    structuredClone(tool.outputSchema) as Schema,
    "2020-12",
    false,
  ).validate(structuredContent);
  assert.ok(valid, `structuredContent of ${name}: ${JSON.stringify(errors)}`);
  const [text] = result["content"] as JsonObject[];
  assert.deepEqual(
    JSON.parse(String(text?.["text"])),
    JSON.parse(JSON.stringify(structuredContent)),
  );
}

/** Asserts that a message of ours that is no response is MCP. */
export function assertOutgoing(message: JsonObject): void {
  if (Object.hasOwn(message, "id")) {
    assertMcp("JSONRPCRequest", message);
    assertMcp("ElicitRequest", message);
    return;
  }
  assertMcp("JSONRPCNotification", message);
  assertMcp("ServerNotification", message);
}
