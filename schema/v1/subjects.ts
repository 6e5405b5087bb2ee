/** What each place of a v1 manifest is called, what it must be, and which clause says so. */

/** The words for one place. */
export interface Subject {
  /** The subject of the message. */
  readonly name: string;
  /** The end of the message where the value has the wrong form. */
  readonly must?: string;
  readonly advice: string;
  /** Of TASK-PLUGIN-001 §1. */
  readonly clause: number;
}

const HTTPS = {
  must: "must be an absolute URL",
  advice: "Write an https URL",
} as const;

/** Keys are pointers with `*` for indices. */
const SUBJECTS: Readonly<Record<string, Subject>> = {
  "": {
    name: "The manifest",
    advice: "Run `cyberos-plugin init` for a valid one to start from",
    clause: 1,
  },
  "/schema_version": {
    name: "Schema version",
    advice: 'Write "schema_version": "1.0.0"',
    clause: 2,
  },
  "/id": {
    name: "Plugin id",
    must:
      "must be 3 to 64 lower-case letters, digits and hyphens, without a hyphen at either end",
    advice: "Write the id in lower-case kebab-case, such as acme-crm",
    clause: 3,
  },
  "/version": {
    name: "Version",
    must:
      "must be SemVer 2.0: MAJOR.MINOR.PATCH, then -PRERELEASE and +BUILD if any",
    advice: "Write a version such as 1.0.0, 1.0.0-beta.1 or 1.0.0+sha.abc123",
    clause: 4,
  },
  "/name": {
    name: "Plugin name",
    advice: "Write the name that hosts show, 1 to 80 characters",
    clause: 1,
  },
  "/description": {
    name: "Plugin description",
    advice:
      "Say in 60 to 480 characters what the plugin does for a person (TASK-SKILL-111)",
    clause: 1,
  },
  "/authors": {
    name: "authors",
    advice: 'List at least one author, such as [{"name": "Jane Doe"}]',
    clause: 1,
  },
  "/authors/*/email": {
    name: "Author's e-mail",
    must: "must be one e-mail address",
    advice: "Write an address such as jane@example.com",
    clause: 1,
  },
  "/authors/*/url": {
    name: "Author's URL",
    must: "must be an absolute http or https URL",
    advice: "Write a URL such as https://example.com",
    clause: 1,
  },
  "/license": {
    name: "Licence",
    advice: "Write an SPDX licence expression, such as Apache-2.0",
    clause: 1,
  },
  "/capabilities": {
    name: "capabilities",
    advice:
      "Declare only read_memory, write_memory, execute_workflow, list_skills, invoke_skill, publish_skill and route_natural_language",
    clause: 5,
  },
  "/tools": {
    name: "tools",
    advice: "Declare at least one tool",
    clause: 6,
  },
  "/tools/*/name": {
    name: "Tool name",
    must: "must follow SEP-986: 'cyberos.{module}.{verb}_{noun}'",
    advice: "Write a name such as cyberos.cuo.execute_workflow (TASK-MCP-003)",
    clause: 6,
  },
  "/tools/*/description": {
    name: "Tool description",
    advice:
      "Say in at least 30 characters what the tool does and when a model should choose it",
    clause: 1,
  },
  "/tools/*/input_schema": {
    name: "Input schema",
    advice:
      'Write the arguments\' JSON Schema; without arguments: {"type": "object", "properties": {}}',
    clause: 1,
  },
  "/tools/*/scopes": {
    name: "Tool scopes",
    advice: "List every OAuth scope that a caller of the tool needs",
    clause: 9,
  },
  "/tools/*/scopes/*": {
    name: "Scope",
    must: "must have the form 'cyberos:{module}:{verb}'",
    advice: "Write a scope such as cyberos:memory:read",
    clause: 9,
  },
  "/tools/*/annotations": {
    name: "Tool annotations",
    advice:
      "Say with destructive, write and external_effect what a call may do (TASK-MCP-006)",
    clause: 14,
  },
  "/commands/*/name": {
    name: "Command name",
    must: "must be a slash, a lower-case letter, then letters, digits, hyphens",
    advice: "Write a name such as /acme-report",
    clause: 11,
  },
  "/commands/*/file": {
    name: "Command file",
    must: "must be 'commands/{name}.md' in lower case",
    advice:
      "Put the file into the commands folder beside the manifest, such as commands/acme-report.md",
    clause: 11,
  },
  "/skills/*/path": {
    name: "Skill path",
    must: "must be 'skills/{name}/SKILL.md', the folder in lower case",
    advice:
      "Put the skill into a folder of its own beside the manifest, such as skills/acme-report/SKILL.md",
    clause: 11,
  },
  "/auth/method": {
    name: "Authentication method",
    advice:
      'Write "method": "oauth-pkce"; a stolen bundle must not yield credentials',
    clause: 7,
  },
  "/auth/authorize_url": { name: "Authorization URL", ...HTTPS, clause: 7 },
  "/auth/token_url": { name: "Token URL", ...HTTPS, clause: 7 },
  "/auth/scopes": {
    name: "auth.scopes",
    advice: "List every scope that some tool needs",
    clause: 9,
  },
  "/auth/scopes/*": {
    name: "Scope",
    must: "must have the form 'cyberos:{module}:{verb}'",
    advice: "Write a scope such as cyberos:memory:read",
    clause: 9,
  },
  "/auth/refresh_interval_seconds": {
    name: "Refresh interval",
    advice: "Write whole seconds, at least 600",
    clause: 7,
  },
  "/audit/endpoint": { name: "Audit endpoint", ...HTTPS, clause: 1 },
  "/audit/kinds": {
    name: "audit.kinds",
    advice:
      "List at least plugin.installed, plugin.updated, plugin.uninstalled and plugin.invoked (TASK-PLUGIN-006)",
    clause: 1,
  },
  "/targets": {
    name: "targets",
    advice: "Name at least one host, such as claude-code (TASK-PLUGIN-007)",
    clause: 12,
  },
  "/targets/*": {
    name: "Target",
    advice: "Name a known host (TASK-PLUGIN-007)",
    clause: 12,
  },
  "/signature": {
    name: "signature",
    advice: "Run `cyberos-plugin sign`; bundles must be Sigstore-signed",
    clause: 8,
  },
  "/marketplace": {
    name: "marketplace",
    advice: "See the marketplace fields (TASK-PLUGIN-008)",
    clause: 12,
  },
};

/** The words for a pointer: its own, else those of the nearest place above it. */
export function subjectOf(pointer: string): Subject {
  const key = pointer.replace(/\/(0|[1-9]\d*)(?=\/|$)/g, "/*");
  const own = Object.hasOwn(SUBJECTS, key) ? SUBJECTS[key] : undefined;
  if (own !== undefined) return own;
  const above = subjectOf(key.slice(0, key.lastIndexOf("/")));
  return {
    name: plainName(pointer),
    advice: above.advice,
    clause: above.clause,
  };
}

/** `/audit/kinds/0` → `audit.kinds[0]`. */
function plainName(pointer: string): string {
  return pointer.slice(1, 200)
    .replace(/\/(0|[1-9]\d*)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".");
}
