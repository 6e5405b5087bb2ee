/** CUO from the catalogue: it walks chains and briefs the host's model, having none of its own. */
import type { JsonObject } from "../../../schema/json.ts";
import type {
  Cuo,
  Memory,
  RunContext,
  Span,
  Telemetry,
  UpstreamContext,
} from "../../ports.ts";
import type {
  DependencyStatus,
  Persona,
  Route,
  Workflow,
} from "../../types.ts";
import { abortError } from "../common/deadline.ts";
import { traced } from "../common/traced.ts";
import { unknownPersona, unknownWorkflow } from "../cuo/names.ts";
import type { SkillText } from "../skills/library.ts";
import { briefingOf } from "./briefing.ts";
import type {
  Catalogue,
  CataloguePersona,
  CatalogueWorkflow,
} from "./catalogue.ts";
import { type PlannedStep, planOf } from "./plan.ts";
import { createRouter, type Router } from "./router.ts";

/** What {@link EmbeddedCuo} needs. */
export interface EmbeddedCuoOptions {
  readonly catalogue: () => Promise<Catalogue>;
  /** The skill's text, from wherever skills come from here. */
  readonly readSkill: (skillId: string) => Promise<SkillText | undefined>;
  /** Each step is recorded here. */
  readonly memory: Memory;
  readonly pluginId: string;
  readonly telemetry: Telemetry;
}

/** The catalogue as CUO. */
export class EmbeddedCuo implements Cuo {
  readonly #options: EmbeddedCuoOptions;
  #router: Promise<Router> | undefined;

  constructor(options: EmbeddedCuoOptions) {
    this.#options = options;
  }

  listPersonas(context: UpstreamContext): Promise<readonly Persona[]> {
    return this.#traced("list_personas", context, async () => {
      const { personas } = await this.#options.catalogue();
      return [...personas.values()].map(({ workflows: _, ...rest }) => rest);
    });
  }

  listWorkflows(
    persona: string,
    context: UpstreamContext,
  ): Promise<readonly Workflow[]> {
    return this.#traced(
      "list_workflows",
      context,
      async () => (await this.#persona(persona)).workflows,
    );
  }

  route(query: string, context: UpstreamContext): Promise<Route> {
    return this.#traced("route", context, async () => {
      this.#router ??= this.#options.catalogue().then(createRouter);
      return (await this.#router).route(query);
    });
  }

  executeWorkflow(
    run: {
      readonly persona: string;
      readonly workflow: string;
      readonly inputs: JsonObject;
    },
    context: RunContext,
  ): Promise<JsonObject> {
    return this.#traced("execute_workflow", context, async (span) => {
      const workflow = await this.#workflow(run.persona, run.workflow);
      const plan = planOf(workflow);
      const skills = new Map<string, SkillText>();
      for (const step of plan.steps) {
        if (context.signal.aborted) throw abortError(context.signal, "CUO");
        const skill = skills.get(step.skillId) ??
          await this.#options.readSkill(step.skillId);
        if (skill !== undefined) skills.set(step.skillId, skill);
        context.onProgress({
          step: step.step,
          total: plan.steps.length,
          message: step.skillId,
        });
        await this.#record(step, {
          run,
          total: plan.steps.length,
          found: skill !== undefined,
          context: { ...context, span },
        });
      }
      return briefingOf({ ...run, workflow, plan, skills });
    });
  }

  status(): Promise<DependencyStatus> {
    return Promise.resolve({
      name: "cuo",
      state: "ok",
      detail: "embedded catalogue",
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The audit row of a step. Nothing of the inputs is in it. */
  async #record(
    step: PlannedStep,
    about: {
      readonly run: { readonly persona: string; readonly workflow: string };
      readonly total: number;
      readonly found: boolean;
      readonly context: RunContext;
    },
  ): Promise<void> {
    const { run, context } = about;
    await this.#options.memory.appendAudit({
      kind: "plugin.step",
      body: {
        plugin_id: this.#options.pluginId,
        tool_name: "cyberos.cuo.execute_workflow",
        trace_id: context.span.context.traceId,
        persona: run.persona,
        workflow: run.workflow,
        step: step.step,
        total: about.total,
        skill_id: step.skillId,
        outcome: about.found ? "briefed" : "skill_missing",
      },
      idempotencyKey: `plugin.step:${context.taskId}:${step.step}`,
    }, context);
  }

  async #persona(slug: string): Promise<CataloguePersona> {
    const { personas } = await this.#options.catalogue();
    const persona = personas.get(slug);
    if (persona === undefined) throw unknownPersona(slug, personas.keys());
    return persona;
  }

  async #workflow(persona: string, slug: string): Promise<CatalogueWorkflow> {
    const { workflows } = await this.#persona(persona);
    const workflow = workflows.find((one) => one.slug === slug);
    if (workflow !== undefined) return workflow;
    throw unknownWorkflow(
      { persona, workflow: slug },
      workflows.map((one) => one.slug),
    );
  }

  #traced<T>(
    method: string,
    context: UpstreamContext,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    return traced(
      this.#options.telemetry,
      context,
      `cuo.${method}`,
      {
        "cyberos.upstream": "cuo",
        "cyberos.cuo.protocol": "embedded",
        "rpc.method": method,
      },
      work,
    );
  }
}
