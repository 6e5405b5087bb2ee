/** Files that people wrote for other systems get one sensible finding, not a heap of them. */
import assert from "node:assert/strict";
import { validateManifest } from "../../schema/validate.ts";
import { brief, errorsOf, fixture, fixtureNames, minimal } from "./support.ts";

const KINDS: Record<string, RegExp> = {
  "agent_plugins_plugin.json": /an Agent Plugins plugin\.json/,
  "chrome_extension_manifest.json": /a browser extension's manifest\.json/,
  "claude_code_plugin.json": /a plugin\.json of Claude Code, Cursor or Codex/,
  "claude_code_plugin_short.json":
    /a plugin\.json of Claude Code, Cursor or Codex/,
  "claude_marketplace.json": /a plugin marketplace file/,
  "codex_plugin.json": /a plugin\.json of Claude Code, Cursor or Codex/,
  "cursor_plugin.json": /a plugin\.json of Claude Code, Cursor or Codex/,
  "deno.json": /a deno\.json/,
  "dot_mcp.json": /an MCP server configuration/,
  "dxt_manifest.json": /an MCPB manifest\.json \(formerly DXT\)/,
  "gemini_extension.json": /a Gemini CLI gemini-extension\.json/,
  "gemini_nested.json": /a file of another system/,
  "homebridge_array.json": /must be an object, not an array/,
  "input_schema_only.json": /a JSON Schema/,
  "mcp_registry_remote.json": /an MCP registry server\.json/,
  "mcp_registry_server.json": /an MCP registry server\.json/,
  "mcpb_manifest.json": /an MCPB manifest\.json/,
  "mock_api_data.json": /a file of another system/,
  "npm_package.json": /a package\.json of npm/,
  "obsidian_manifest.json": /an Obsidian plugin's manifest\.json/,
  "openai_ai_plugin.json": /an OpenAI plugin's ai-plugin\.json/,
  "openapi.json": /an OpenAPI description/,
  "proxy_server_config.json": /a file of another system/,
  "smithery.yaml.json": /'startCommand' is not a JSON value/,
  "tsconfig.json": /a tsconfig\.json/,
  "vscode_extension_package.json": /a VS Code extension's package\.json/,
  "vscode_mcp.json": /a VS Code MCP configuration/,
  "web_app_manifest.json": /a web app's manifest\.json/,
  "wordpress_block.json": /a file of another system/,
};

Deno.test("validateManifest() recognizes the manifests of other systems", async () => {
  const names = fixtureNames("foreign/");
  assert.deepEqual(
    names.map((name) => name.slice("foreign/".length)),
    Object.keys(KINDS).sort(),
  );
  for (const name of names) {
    const { findings } = await validateManifest(fixture(name));
    assert.equal(findings.length, 1, name);
    assert.match(
      findings[0]?.message ?? "",
      KINDS[name.slice("foreign/".length)] as RegExp,
    );
  }
});

Deno.test("a CyberOS manifest in the making is never taken for another's", async () => {
  const drafts = [
    "{}",
    '{"id": "acme-crm", "version": "1.0.0"}',
    '{"id": "acme-crm", "keywords": []}',
    '{"name": "Acme", "tools": [], "keywords": []}',
    '{"id": "acme-crm", "name": "Acme", "description": "x", "tools": []}',
    minimal((m) => {
      delete m.schema_version;
      m.mcpServers = {};
      m.dependencies = {};
    }),
  ];
  for (const draft of drafts) {
    const errors = await errorsOf(draft);
    assert.ok(errors.length > 1, draft);
    assert.doesNotMatch(errors[0]?.message ?? "", /looks like/);
  }
});

Deno.test("an unknown schema version is one finding, whatever else is wrong", async () => {
  const text = minimal((m) => {
    m.schema_version = "2.0.0";
    m.id = "X";
    m.new_field = 1;
  });
  const { findings } = await validateManifest(text);
  assert.deepEqual(brief(findings), ["/schema_version const"]);
});
