/** CUO, memory and skills in memory: real answers, every call kept, failures at will. */
import { BridgeError } from "../../bridge/errors.ts";
import type {
  AuditFilter,
  Cuo,
  Memory,
  RunContext,
  Skills,
  UpstreamContext,
  Upstreams,
} from "../../bridge/ports.ts";
import type {
  AuditRow,
  DependencyStatus,
  Persona,
  Route,
  Skill,
  SkillProblem,
  Workflow,
} from "../../bridge/types.ts";
import type { JsonObject } from "../../schema/json.ts";

/** One call that reached an upstream. */
export interface SeenCall {
  readonly method: string;
  readonly input: unknown;
  readonly tenantId: string;
  readonly traceparent: string;
  readonly signal: AbortSignal;
}

const OK: DependencyStatus = { name: "fake", state: "ok" };

/** What a method does instead of answering: throws, waits, returns something else. */
export type Behaviour = (
  input: unknown,
  context: UpstreamContext | RunContext,
) => unknown;

/** The three upstreams. `behaviours` replaces a method's answer by its name, such as `cuo.route`. */
export class FakeUpstreams implements Upstreams {
  readonly calls: SeenCall[] = [];
  readonly behaviours: Map<string, Behaviour> = new Map();
  personas: Persona[] = [{
    slug: "chief-technology-officer",
    title: "Chief Technology Officer",
    description: "Owns the technology",
    status: "shipped",
    workflowCount: 2,
  }];
  workflows: Workflow[] = [{
    slug: "architect-new-system",
    title: "Architect a new system",
    cadence: "on demand",
    inputs: ["context"],
    outputs: ["adr"],
    skillChain: ["architecture-decision-record-author"],
  }];
  routes: Route = {
    persona: "chief-technology-officer",
    workflow: "architect-new-system",
    confidence: 0.92,
    alternates: ["chief-product-officer/product-roadmap"],
  };
  /** Rows by tenant. */
  readonly rows: Map<string, AuditRow[]> = new Map();
  skillList: Skill[] = [
    { skillId: "architecture-decision-record-author", description: "Writes" },
    { skillId: "audit", title: "Audit", description: "Audits a document" },
  ];
  problems: SkillProblem[] = [];
  readonly #keys = new Map<string, number>();

  readonly cuo: Cuo = {
    listPersonas: (context) =>
      this.#call("cuo.listPersonas", undefined, context, () => this.personas),
    listWorkflows: (persona, context) =>
      this.#call("cuo.listWorkflows", persona, context, () => {
        if (this.personas.some(({ slug }) => slug === persona)) {
          return this.workflows;
        }
        throw new BridgeError("NOT_FOUND", "Persona not found");
      }),
    route: (query, context) =>
      this.#call("cuo.route", query, context, () => this.routes),
    executeWorkflow: (run, context) =>
      this.#call<JsonObject>("cuo.executeWorkflow", run, context, () => {
        context.onProgress({ step: 1, total: 2, message: "first" });
        context.onProgress({ step: 2, total: 2, message: "second" });
        return { steps_executed: 2, final_artifacts: [] };
      }),
    status: () => Promise.resolve(OK),
    close: () => Promise.resolve(),
  };

  readonly memory: Memory = {
    readAudit: (filter, context) =>
      this.#call(
        "memory.readAudit",
        filter,
        context,
        () => this.#read(filter, context),
      ),
    appendAudit: (row, context) =>
      this.#call(
        "memory.appendAudit",
        row,
        context,
        () => this.#append(row, context),
      ),
    status: () => Promise.resolve(OK),
    close: () => Promise.resolve(),
  };

  readonly skills: Skills = {
    list: (context) =>
      this.#call("skills.list", undefined, context, () => ({
        skills: this.skillList,
        problems: this.problems,
      })),
    invoke: (run, context) =>
      this.#call<JsonObject>("skills.invoke", run, context, () => ({
        ran: run.skillId,
      })),
    status: () => Promise.resolve(OK),
    close: () => Promise.resolve(),
  };

  /** The methods that were called, in order. */
  get methods(): string[] {
    return this.calls.map(({ method }) => method);
  }

  async #call<T>(
    method: string,
    input: unknown,
    context: UpstreamContext,
    answer: () => T,
  ): Promise<T> {
    this.calls.push({
      method,
      input,
      tenantId: context.principal.tenantId,
      traceparent: context.span.traceparent,
      signal: context.signal,
    });
    const behaviour = this.behaviours.get(method);
    return behaviour === undefined
      ? answer()
      : await behaviour(input, context) as T;
  }

  #read(filter: AuditFilter, { principal }: UpstreamContext) {
    const rows = (this.rows.get(principal.tenantId) ?? [])
      .filter((row) => (row["seq"] as number) > (filter.sinceSeq ?? -1))
      .filter((row) => filter.kind === undefined || row["kind"] === filter.kind)
      .filter((row) =>
        filter.actor === undefined || row["actor_id"] === filter.actor
      );
    const page = rows.slice(0, filter.limit);
    const last = page.at(-1)?.["seq"] as number | undefined;
    return { rows: page, nextSeq: rows.length > page.length ? last! : null };
  }

  #append(
    row: { kind: string; body: JsonObject; idempotencyKey: string },
    { principal }: UpstreamContext,
  ) {
    const key = `${principal.tenantId} ${row.idempotencyKey}`;
    const known = this.#keys.get(key);
    if (known !== undefined) return { seq: known };
    const rows = this.rows.get(principal.tenantId) ?? [];
    const seq = rows.length + 1;
    this.rows.set(principal.tenantId, [...rows, {
      seq,
      kind: row.kind,
      body: row.body,
      actor_id: principal.subject,
      tenant_id: principal.tenantId,
    }]);
    this.#keys.set(key, seq);
    return { seq, recordedAt: "2027-01-15T08:00:00Z" };
  }
}
