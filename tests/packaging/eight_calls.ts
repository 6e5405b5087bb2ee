/** One call of each tool against the embedded catalogue, and what must come back. */
import assert from "node:assert/strict";

type Plain = Record<string, unknown>;

/** A call. */
export interface Call {
  readonly name: string;
  readonly args: Plain;
  check(result: Plain): void;
}

const some = (value: unknown) =>
  assert.ok(Array.isArray(value) && value.length > 0);

const PERSONA = "chief-technology-officer";

/** In an order that has something to read at its end. */
export const EIGHT_CALLS: readonly Call[] = [
  {
    name: "cyberos.cuo.list_personas",
    args: {},
    check: ({ personas }) => some(personas),
  },
  {
    name: "cyberos.cuo.list_workflows",
    args: { persona: PERSONA },
    check: ({ workflows }) => some(workflows),
  },
  {
    name: "cyberos.cuo.route",
    args: { query: "Architect a new payment routing system" },
    check: ({ persona }) => assert.equal(typeof persona, "string"),
  },
  {
    name: "cyberos.cuo.execute_workflow",
    args: {
      persona: PERSONA,
      workflow: "architect-new-system",
      inputs: { prd: "Route card payments", target_quarter: "2027-Q2" },
      wait_seconds: 40,
    },
    check: ({ status }) => assert.equal(status, "completed"),
  },
  {
    name: "cyberos.skill.list_catalog",
    args: { filter: "threat model" },
    check: ({ skills }) => some(skills),
  },
  {
    name: "cyberos.skill.invoke_skill",
    args: {
      skill_id: "threat-model-author",
      inputs: { system: "payment router" },
      wait_seconds: 40,
    },
    check: ({ status }) => assert.equal(status, "completed"),
  },
  {
    name: "cyberos.memory.append_audit",
    args: { kind: "decision", body: { title: "Three acquirers" } },
    check: ({ seq }) => assert.equal(typeof seq, "number"),
  },
  {
    name: "cyberos.memory.read_audit",
    args: { limit: 50 },
    check: ({ rows }) => some(rows),
  },
];
