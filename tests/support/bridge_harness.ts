/** The protocol on fakes, asked as a stateless transport asks it. Every answer is checked against MCP's schema. */
import type { Confirmations } from "../../bridge/ports.ts";
import type { Principal } from "../../bridge/types.ts";
import type { Answer } from "../../bridge/wire/admission.ts";
import { decodeMessage } from "../../bridge/wire/decode_message.ts";
import { encodeAnswer } from "../../bridge/wire/encode_message.ts";
import type { Exchange } from "../../bridge/wire/exchange.ts";
import {
  createProtocol,
  type Protocol,
  type ProtocolDeps,
  type ProtocolOptions,
} from "../../bridge/wire/protocol.ts";
import type { JsonObject } from "../../schema/json.ts";
import { ALL_SCOPES } from "../../schema/tools.ts";
import { FakeClock } from "./fake_clock.ts";
import { FakeLogger } from "./fake_logger.ts";
import { FakeTaskRunner } from "./fake_task_runner.ts";
import { FakeTelemetry } from "./fake_telemetry.ts";
import { FakeUpstreams } from "./fake_upstreams.ts";
import { assertOutgoing, assertResponse } from "./mcp_schema.ts";
import { TENANT_A } from "./tokens.ts";

/** What a test may set. */
export interface HarnessOptions {
  readonly options?: ProtocolOptions;
  readonly confirmations?: Confirmations;
  readonly enter?: ProtocolDeps["enter"];
  readonly upstreams?: FakeUpstreams;
  readonly deps?: Partial<ProtocolDeps>;
}

/** The caller of a test, with every scope unless told otherwise. */
export function principal(
  parts: { tenantId?: string; subject?: string; scopes?: string[] } = {},
): Principal {
  return {
    tenantId: parts.tenantId ?? TENANT_A,
    subject: parts.subject ?? "user-1",
    scopes: new Set(parts.scopes ?? ALL_SCOPES),
  };
}

/** The `_meta` with which a host vouches for the person's confirmation. */
export const CONFIRMED: JsonObject = { "mcp/sampling/elicit_confirm": true };

/** A response, loosely typed for assertions. */
// deno-lint-ignore no-explicit-any
export type Loose = any;

/** One protocol with its fakes. */
export class Harness {
  readonly clock: FakeClock = new FakeClock();
  readonly log: FakeLogger = new FakeLogger();
  readonly telemetry: FakeTelemetry = new FakeTelemetry();
  readonly upstreams: FakeUpstreams;
  readonly tasks: FakeTaskRunner;
  readonly protocol: Protocol;
  /** Notifications of all requests, in order. */
  readonly notified: { method: string; params: JsonObject }[] = [];
  /** How often an upstream or the task runner was asked for. */
  loads = 0;
  /** How often the caller's token was asked for. */
  authentications = 0;
  caller: () => Principal | Promise<Principal> = () => principal();
  #nextId = 1;

  constructor(options: HarnessOptions = {}) {
    this.upstreams = options.upstreams ?? new FakeUpstreams();
    this.tasks = new FakeTaskRunner(this.clock);
    const { confirmations } = options;
    this.protocol = createProtocol({
      upstreams: () => {
        this.loads++;
        return Promise.resolve(this.upstreams);
      },
      tasks: () => {
        this.loads++;
        return Promise.resolve(this.tasks);
      },
      ...(confirmations === undefined
        ? {}
        : { confirmations: () => Promise.resolve(confirmations) }),
      telemetry: this.telemetry,
      clock: this.clock,
      log: this.log,
      pluginId: "cyberos",
      version: "1.0.0",
      ...(options.options === undefined ? {} : { options: options.options }),
      ...(options.enter === undefined ? {} : { enter: options.enter }),
      ...options.deps,
    });
  }

  /** An exchange of a stateless transport, whose token this harness answers for. */
  exchange(parts: Partial<Exchange> = {}): Exchange {
    return {
      transport: "http",
      signal: new AbortController().signal,
      authenticate: async () => {
        this.authentications++;
        return await this.caller();
      },
      notify: (method, params) => {
        assertOutgoing({ jsonrpc: "2.0", method, params });
        this.notified.push({ method, params });
      },
      ...parts,
    };
  }

  /** Sends one message as it would come over the wire. */
  async answer(
    message: unknown,
    parts: Partial<Exchange> = {},
  ): Promise<Answer | undefined> {
    const decoded = decodeMessage(JSON.stringify(message));
    return await this.protocol.handle(decoded, this.exchange(parts));
  }

  /** Sends one message and gives the response as the peer reads it. */
  async send(message: unknown, parts: Partial<Exchange> = {}): Promise<Loose> {
    const answer = await this.answer(message, parts);
    if (answer === undefined) return undefined;
    const response = JSON.parse(encodeAnswer(answer));
    assertResponse((message ?? {}) as JsonObject, response);
    return response;
  }

  /** Sends a request with an id of its own. */
  request(
    method: string,
    params?: unknown,
    parts: Partial<Exchange> = {},
  ): Promise<Loose> {
    const id = this.#nextId++;
    const message = {
      jsonrpc: "2.0",
      id,
      method,
      ...(params ? { params } : {}),
    };
    return this.send(message, parts);
  }

  /** Calls a tool. */
  tool(
    name: string,
    args?: unknown,
    more: { meta?: JsonObject; task?: unknown; exchange?: Partial<Exchange> } =
      {},
  ): Promise<Loose> {
    return this.request("tools/call", {
      name,
      ...(args === undefined ? {} : { arguments: args }),
      ...(more.meta === undefined ? {} : { _meta: more.meta }),
      ...(more.task === undefined ? {} : { task: more.task }),
    }, more.exchange);
  }
}

/** Arguments of a workflow run. */
export const RUN: JsonObject = {
  persona: "chief-technology-officer",
  workflow: "architect-new-system",
  inputs: { context: "Build a payment routing system" },
};
