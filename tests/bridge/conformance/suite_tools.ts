/** The tools that the official conformance suite asks for, on our own stack. */
import type { JsonObject } from "../../../schema/json.ts";
import {
  createToolSet,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  type ToolSet,
} from "../../../bridge/calls/tool_set.ts";

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A wave file without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const IMAGE: JsonObject = { type: "image", data: PNG, mimeType: "image/png" };

/** The schema whose keywords must survive the listing. */
const SCHEMA_2020_12: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: {
    properties: { contactMethod: { const: "phone" } },
    required: ["contactMethod"],
  },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

type Run = (context: ToolContext) => Promise<ToolAnswer> | ToolAnswer;

/** The suite's tools. */
export function suiteTools(): ToolSet {
  return createToolSet([
    tool("test_simple_text", () =>
      contents({
        type: "text",
        text: "This is a simple text response for testing.",
      })),
    tool("test_image_content", () => contents(IMAGE)),
    tool(
      "test_audio_content",
      () => contents({ type: "audio", data: WAV, mimeType: "audio/wav" }),
    ),
    tool(
      "test_embedded_resource",
      () =>
        contents(
          resource("embedded-resource", "text/plain", "This is embedded."),
        ),
    ),
    tool("test_multiple_content_types", () =>
      contents(
        { type: "text", text: "Multiple content types test:" },
        IMAGE,
        resource(
          "mixed-content-resource",
          "application/json",
          '{"test":"data","value":123}',
        ),
      )),
    tool("test_error_handling", () => ({
      kind: "result",
      content: [{
        type: "text",
        text: "This tool intentionally returns an error for testing",
      }],
      isError: true,
    })),
    tool("test_tool_with_logging", withLogging),
    tool("test_tool_with_progress", withProgress),
    tool("json_schema_2020_12_tool", () => contents(), SCHEMA_2020_12),
  ]);
}

async function withLogging({ log }: ToolContext): Promise<ToolAnswer> {
  log("info", "Tool execution started");
  await pause();
  log("info", "Tool processing data");
  await pause();
  log("info", "Tool execution completed");
  return contents({ type: "text", text: "Logged three times" });
}

async function withProgress({ onProgress }: ToolContext): Promise<ToolAnswer> {
  for (const step of [0, 50, 100]) {
    onProgress({ step, total: 100 });
    await pause();
  }
  return contents({ type: "text", text: "Reported three times" });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

function contents(...content: JsonObject[]): ToolAnswer {
  return { kind: "result", content };
}

function resource(name: string, mimeType: string, text: string): JsonObject {
  return {
    type: "resource",
    resource: { uri: `test://${name}`, mimeType, text },
  };
}

function tool(
  name: string,
  run: Run,
  inputSchema: JsonObject = { type: "object", properties: {} },
): Tool {
  return {
    name,
    listing: {
      name,
      description: `A tool of the conformance suite: ${name}`,
      inputSchema,
    },
    scopes: [],
    needsConfirmation: false,
    longRunning: false,
    validate: () => Promise.resolve([]),
    call: async (_args, context) => await run(context),
  };
}
