/** The skills port over a skill broker. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type {
  Clock,
  Logger,
  RunContext,
  Skills,
  Span,
  Telemetry,
  UpstreamContext,
} from "../../ports.ts";
import type { DependencyStatus, Skill, SkillProblem } from "../../types.ts";
import { abortError } from "../common/deadline.ts";
import { didYouMean } from "../common/nearest.ts";
import { isOutage, Readiness } from "../common/readiness.ts";
import {
  type Credential,
  type Fetch,
  RestClient,
} from "../common/rest_client.ts";
import {
  asArray,
  asName,
  asObject,
  asOptionalText,
  asText,
  isName,
  readShape,
} from "../common/shape.ts";
import { traced } from "../common/traced.ts";

/** What {@link BrokerSkills} needs. */
export interface BrokerOptions {
  /** `SKILL_BROKER_ENDPOINT`. */
  readonly endpoint: string;
  /** The bridge's own credential; never a caller's token. */
  readonly token?: Credential;
  readonly fetch?: Fetch;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

const UPSTREAM = "The skill broker";
const PATH = "/v1/skills";
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_SKILLS = 10_000;
const FOREVER_MS = 2 ** 31 - 1;

/** Skills of a broker. */
export class BrokerSkills implements Skills {
  readonly #options: BrokerOptions;
  readonly #client: RestClient;
  readonly #readiness: Readiness;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#client = new RestClient({
      names: {
        upstream: UPSTREAM,
        endpointSetting: "SKILL_BROKER_ENDPOINT",
        tokenSetting: "CYBEROS_SKILL_BROKER_TOKEN",
      },
      endpoint: options.endpoint,
      ...(options.token === undefined ? {} : { token: options.token }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      maxBytes: MAX_BYTES,
      clock: options.clock,
      log: options.log,
    });
    this.#readiness = new Readiness({
      name: "skills",
      freshMs: 10_000,
      timeoutMs: this.#timeoutMs,
      probe: (signal) => this.#probe(signal),
    });
  }

  list(
    context: UpstreamContext,
  ): Promise<
    {
      readonly skills: readonly Skill[];
      readonly problems: readonly SkillProblem[];
    }
  > {
    return this.#traced(
      "skills.list",
      context,
      async (span) => await this.#list({ span, signal: context.signal }),
    );
  }

  invoke(
    run: { readonly skillId: string; readonly inputs: JsonObject },
    context: RunContext,
  ): Promise<JsonObject> {
    return this.#traced("skills.invoke", context, async (span) => {
      const call = { span, signal: context.signal };
      // What cannot be an id never becomes part of a path.
      if (!isName(run.skillId)) throw await this.#unknown(run.skillId, call);
      try {
        const answer = await this.#client.json({
          method: "POST",
          path: `${PATH}/${encodeURIComponent(run.skillId)}/invoke`,
          template: `${PATH}/{id}/invoke`,
          headers: { "idempotency-key": context.taskId },
          body: {
            inputs: run.inputs,
            tenant_id: context.principal.tenantId,
            actor_id: context.principal.subject,
            task_id: context.taskId,
            trace_id: span.context.traceId,
          },
          refusals: INVOKE_REFUSALS,
        }, { ...call, timeoutMs: FOREVER_MS });
        return readShape(UPSTREAM, () => asObject(answer, "answer"));
      } catch (error) {
        if (error instanceof BridgeError && error.code === "NOT_FOUND") {
          throw await this.#unknown(run.skillId, call);
        }
        throw error;
      }
    });
  }

  status(signal: AbortSignal): Promise<DependencyStatus> {
    return this.#readiness.status(signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  async #list(
    call: { readonly span: Span; readonly signal: AbortSignal },
  ): Promise<
    {
      readonly skills: readonly Skill[];
      readonly problems: readonly SkillProblem[];
    }
  > {
    const answer = await this.#client.json(
      { method: "GET", path: PATH, repeatable: true },
      { ...call, timeoutMs: this.#timeoutMs },
    );
    return readShape(UPSTREAM, () => readCatalogue(answer));
  }

  async #unknown(
    skillId: string,
    call: { readonly span: Span; readonly signal: AbortSignal },
  ): Promise<BridgeError> {
    if (call.signal.aborted) return abortError(call.signal, UPSTREAM);
    const known = await this.#list(call).catch(() => ({ skills: [] }));
    return new BridgeError(
      "NOT_FOUND",
      `No skill "${skillId.replace(/\p{Cc}/gu, " ").slice(0, 64)}"`,
      {
        hint: didYouMean(
          skillId,
          known.skills.map((skill) => skill.skillId),
          "cyberos.skill.list_catalog lists all of them.",
        ),
      },
    );
  }

  #traced<T>(
    name: string,
    context: UpstreamContext,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    return traced(
      this.#options.telemetry,
      context,
      name,
      { "cyberos.upstream": "skills" },
      work,
    ).catch((error) => {
      if (isOutage(error)) this.#readiness.doubt();
      throw error;
    });
  }

  async #probe(signal: AbortSignal): Promise<DependencyStatus> {
    const name = "skills";
    const { problem } = this.#client;
    if (problem !== undefined) {
      return { name, state: "not configured", detail: problem };
    }
    const span = this.#options.telemetry.startSpan("skills.probe", {
      kind: "client",
    });
    try {
      await this.#list({ span, signal });
      span.end();
      return { name, state: "ok" };
    } catch (error) {
      span.end("upstream_unavailable");
      throw error;
    }
  }
}

/** `{skills:[{id|skill_id,title?,description}]}`, or the array alone. A bad row is a problem, not the end. */
function readCatalogue(answer: JsonValue): {
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
} {
  const rows = asArray(
    Array.isArray(answer) ? answer : asObject(answer, "answer")["skills"],
    "skills",
    MAX_SKILLS,
  );
  const skills = new Map<string, Skill>();
  const problems: SkillProblem[] = [];
  rows.forEach((row, index) => {
    try {
      const skill = readSkill(row, `skills/${index}`);
      if (skills.has(skill.skillId)) throw new Error("the id is there twice");
      skills.set(skill.skillId, skill);
    } catch (error) {
      problems.push({
        skillId: shownId(row, index),
        reason: `the broker's row is not usable: ${(error as Error).message}`,
      });
    }
  });
  return {
    skills: [...skills.values()].sort((a, b) => a.skillId < b.skillId ? -1 : 1),
    problems,
  };
}

function readSkill(row: JsonValue, place: string): Skill {
  const object = asObject(row, place);
  const title = asOptionalText(object["title"], `${place}/title`, 256);
  return {
    skillId: asName(object["skill_id"] ?? object["id"], `${place}/id`),
    ...(title === undefined ? {} : { title }),
    description: asText(object["description"], `${place}/description`),
  };
}

function shownId(row: JsonValue, index: number): string {
  const object = (row ?? {}) as JsonObject;
  const id = object["skill_id"] ?? object["id"];
  return typeof id === "string" && isName(id) ? id : `#${index}`;
}

function inputsRefused(): BridgeError {
  return new BridgeError(
    "ARGUMENTS_INVALID",
    "The skill does not accept these inputs",
    {
      hint: "Check the inputs; cyberos.skill.list_catalog describes the skill.",
    },
  );
}

const INVOKE_REFUSALS = {
  400: inputsRefused,
  404: () => new BridgeError("NOT_FOUND", "No such skill"),
  409: () =>
    new BridgeError("CONFLICT", "The skill is already running for this task"),
  413: inputsRefused,
  422: inputsRefused,
} as const;
