/** The type of a manifest and its schema say the same. */
import assert from "node:assert/strict";
import type {
  AuditKind,
  Manifest,
  ManifestTarget,
} from "../../schema/manifest.ts";
import manifestSchema from "../../schema/manifest.schema.json" with {
  type: "json",
};
import type { Capability } from "../../schema/scopes.ts";
import { CAPABILITY_SCOPES } from "../../schema/scopes.ts";
import { TOOL_NAME_PATTERN } from "../../schema/tool_name.ts";
import { KNOWN_SCHEMA_VERSIONS } from "../../schema/validate_dispatch.ts";
import { complete, errorsOf } from "./support.ts";

type Keys<T> = Record<keyof Required<T>, true>;

// A member that is missing here, or too many, does not compile.
const MANIFEST: Keys<Manifest> = {
  schema_version: true,
  id: true,
  version: true,
  name: true,
  description: true,
  authors: true,
  license: true,
  capabilities: true,
  tools: true,
  commands: true,
  skills: true,
  auth: true,
  audit: true,
  targets: true,
  signature: true,
  marketplace: true,
};
const AUTHOR: Keys<Manifest["authors"][number]> = {
  name: true,
  email: true,
  url: true,
};
const TOOL: Keys<Manifest["tools"][number]> = {
  name: true,
  description: true,
  input_schema: true,
  annotations: true,
  scopes: true,
};
const COMMAND: Keys<NonNullable<Manifest["commands"]>[number]> = {
  name: true,
  file: true,
  description: true,
};
const SKILL: Keys<NonNullable<Manifest["skills"]>[number]> = {
  id: true,
  path: true,
};
const AUTH: Keys<Manifest["auth"]> = {
  method: true,
  authorize_url: true,
  token_url: true,
  scopes: true,
  refresh_interval_seconds: true,
};
const AUDIT: Keys<Manifest["audit"]> = { endpoint: true, kinds: true };
const SIGNATURE: Keys<Manifest["signature"]> = {
  sigstore_bundle: true,
  rekor_uuid: true,
};
const MARKETPLACE: Keys<NonNullable<Manifest["marketplace"]>> = {
  visibility: true,
  vetted_by_cyberskill: true,
  price_usd_per_month: true,
  revenue_share_percent: true,
};
const CAPABILITIES: Record<Capability, true> = {
  read_memory: true,
  write_memory: true,
  execute_workflow: true,
  list_skills: true,
  invoke_skill: true,
  publish_skill: true,
  route_natural_language: true,
};
const TARGETS: Record<ManifestTarget, true> = {
  "claude-code": true,
  cursor: true,
  cowork: true,
  "codex-cli": true,
  goose: true,
  amp: true,
  "continue-dev": true,
};
const KINDS: Record<AuditKind, true> = {
  "plugin.installed": true,
  "plugin.updated": true,
  "plugin.uninstalled": true,
  "plugin.invoked": true,
  "plugin.auth_refreshed": true,
  "plugin.scope_denied": true,
};

Deno.test("the manifest's type has the members of its schema", () => {
  const { properties, $defs } = manifestSchema;
  const pairs: [object, object][] = [
    [MANIFEST, properties],
    [AUTHOR, $defs.author.properties],
    [TOOL, $defs.tool.properties],
    [COMMAND, $defs.command.properties],
    [SKILL, $defs.skill.properties],
    [AUTH, properties.auth.properties],
    [AUDIT, properties.audit.properties],
    [SIGNATURE, properties.signature.properties],
    [MARKETPLACE, properties.marketplace.properties],
    [CAPABILITIES, properties.capabilities.properties],
    [CAPABILITIES, CAPABILITY_SCOPES],
  ];
  for (const [type, schema] of pairs) {
    assert.deepEqual(Object.keys(type).sort(), Object.keys(schema).sort());
  }
  assert.deepEqual(Object.keys(TARGETS), $defs.target.enum);
  assert.deepEqual(Object.keys(KINDS), $defs.auditKind.enum);
  assert.equal($defs.tool.properties.name.pattern, TOOL_NAME_PATTERN);
  assert.deepEqual(KNOWN_SCHEMA_VERSIONS, [properties.schema_version.const]);
});

Deno.test("what the type leaves out is optional, and what it names is required", async () => {
  const optional = ["commands", "skills", "marketplace"];
  for (const key of Object.keys(MANIFEST)) {
    const errors = await errorsOf(complete((m) => delete m[key]));
    assert.equal(errors.length === 0, optional.includes(key), key);
  }
});
