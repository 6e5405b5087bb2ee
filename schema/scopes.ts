/**
 * OAuth scopes of CyberOS and the capability that each one stands behind.
 *
 * Source: TASK-PLUGIN-001 §1 clauses 5 and 9.
 */

/** The seven capabilities that a v1 manifest may declare. */
export type Capability =
  | "read_memory"
  | "write_memory"
  | "execute_workflow"
  | "list_skills"
  | "invoke_skill"
  | "publish_skill"
  | "route_natural_language";

/** A scope of a CyberOS access token: `cyberos:<module>:<verb>`. */
export type Scope = `cyberos:${string}:${string}`;

/**
 * The scope that a declared capability implies: a manifest that declares the
 * capability must have a tool that carries the scope, and the other way round.
 */
export const CAPABILITY_SCOPES: Readonly<Record<Capability, Scope>> = {
  read_memory: "cyberos:memory:read",
  write_memory: "cyberos:memory:write",
  execute_workflow: "cyberos:cuo:execute",
  list_skills: "cyberos:skill:list",
  invoke_skill: "cyberos:skill:invoke",
  publish_skill: "cyberos:skill:publish",
  route_natural_language: "cyberos:cuo:route",
};

/** Scopes that let a token change something: a destructive tool needs one of them. */
export const WRITE_SCOPES: readonly Scope[] = [
  "cyberos:memory:write",
  "cyberos:cuo:execute",
  "cyberos:skill:invoke",
  "cyberos:skill:publish",
];
