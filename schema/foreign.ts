/** Recognizes the manifests of other systems, so that nobody gets twenty findings for the wrong file. */
import type { JsonObject, JsonValue } from "./json.ts";

interface Kind {
  /** With its article. */
  readonly name: string;
  matches(keys: ReadonlySet<string>, value: JsonObject): boolean;
}

/** Members that only a CyberOS manifest has together. */
const OURS = ["capabilities", "audit", "targets", "signature", "auth", "tools"];

const OUR_KEYS: ReadonlySet<string> = new Set([
  ...OURS,
  "authors",
  "commands",
  "description",
  "id",
  "license",
  "marketplace",
  "name",
  "schema_version",
  "skills",
  "version",
]);

/** The first that matches counts: the more telling ones come first. */
const KINDS: readonly Kind[] = [
  {
    name: "an MCPB manifest.json",
    matches: (keys) => keys.has("manifest_version") && keys.has("server"),
  },
  {
    name: "an MCPB manifest.json (formerly DXT)",
    matches: (keys) => keys.has("dxt_version"),
  },
  {
    name: "an MCP registry server.json",
    matches: (keys, value) =>
      schemaOf(value).includes("server.schema.json") ||
      (hasName(value, /^[^/\s]+\.[^/\s]+\/[^/\s]+$/) &&
        (keys.has("packages") || keys.has("remotes"))),
  },
  {
    name: "an MCP server configuration (.mcp.json)",
    matches: (keys) => keys.has("mcpServers") && !keys.has("name"),
  },
  {
    name: "a VS Code MCP configuration (mcp.json)",
    matches: (keys) => keys.has("servers") && !keys.has("name"),
  },
  {
    name: "an Agent Plugins plugin.json",
    matches: (_, value) => schemaOf(value).includes("agent-plugins.org"),
  },
  {
    name: "a Gemini CLI gemini-extension.json",
    matches: (keys) => keys.has("contextFileName") || keys.has("excludeTools"),
  },
  {
    name: "a plugin marketplace file (marketplace.json)",
    matches: (keys, value) =>
      Array.isArray(value.plugins) && (keys.has("owner") || keys.has("name")),
  },
  {
    name: "a VS Code extension's package.json",
    matches: (keys, value) =>
      keys.has("contributes") ||
      typeof objectOf(value.engines).vscode === "string",
  },
  {
    name: "a package.json of npm",
    matches: (keys) =>
      [
        "dependencies",
        "devDependencies",
        "scripts",
        "main",
        "bin",
        "workspaces",
      ]
        .some((key) => keys.has(key)) && !keys.has("manifest_version"),
  },
  {
    name: "a deno.json or jsr.json",
    matches: (keys) => keys.has("exports") || keys.has("imports"),
  },
  {
    name: "a browser extension's manifest.json",
    matches: (keys, value) =>
      typeof value.manifest_version === "number" ||
      keys.has("content_scripts") || keys.has("background"),
  },
  {
    name: "a web app's manifest.json",
    matches: (keys) =>
      keys.has("start_url") || (keys.has("icons") && keys.has("display")),
  },
  {
    name: "an OpenAI plugin's ai-plugin.json",
    matches: (keys) => keys.has("name_for_model"),
  },
  {
    name: "an OpenAPI description",
    matches: (keys) => keys.has("openapi") || keys.has("swagger"),
  },
  {
    name: "a JSON Schema",
    matches: (keys, value) =>
      schemaOf(value).includes("json-schema.org") ||
      (keys.has("properties") && keys.has("type")),
  },
  {
    name: "a tsconfig.json",
    matches: (keys) => keys.has("compilerOptions"),
  },
  {
    name: "an Obsidian plugin's manifest.json",
    matches: (keys) => keys.has("minAppVersion"),
  },
  {
    name: "a plugin.json of Claude Code, Cursor or Codex",
    matches: (keys, value) =>
      typeof value.name === "string" && !keys.has("id") &&
      [...keys].filter((key) => !HOST_KEYS.has(key)).length <=
        (keys.has("author") || keys.has("mcpServers") ? 2 : 0),
  },
  {
    name: "a file of another system",
    matches: (keys) =>
      !keys.has("id") && !OURS.some((key) => keys.has(key)) &&
      [...keys].some((key) => !OUR_KEYS.has(key)),
  },
];

const HOST_KEYS: ReadonlySet<string> = new Set([
  "$schema",
  "agents",
  "author",
  "category",
  "commands",
  "description",
  "displayName",
  "homepage",
  "hooks",
  "interface",
  "keywords",
  "license",
  "lspServers",
  "logo",
  "mcpServers",
  "name",
  "outputStyles",
  "publisher",
  "repository",
  "rules",
  "skills",
  "tags",
  "userConfig",
  "version",
]);

/** `a Claude Code plugin.json` and the like; `undefined` for what may be meant as ours. */
export function foreignKind(value: JsonValue): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return undefined;
  }
  const object = value as JsonObject;
  const keys = new Set(Object.keys(object));
  if (OURS.filter((key) => keys.has(key)).length >= 3) return undefined;
  return KINDS.find((kind) => kind.matches(keys, object))?.name;
}

function schemaOf(value: JsonObject): string {
  return typeof value.$schema === "string" ? value.$schema : "";
}

function hasName(value: JsonObject, form: RegExp): boolean {
  return typeof value.name === "string" && value.name.length < 300 &&
    form.test(value.name);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : {};
}
