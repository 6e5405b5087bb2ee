/** What the fake `cyberos-cuo` is told. */

/** What to do instead of, or before, answering. First match wins. */
export interface FakeRule {
  /** `route`, `execute_workflow`; for the command line `route`, `execute`, … */
  readonly method?: string;
  /** Only where the parameters or arguments hold this text. */
  readonly match?: string;
  readonly stderr?: string;
  readonly stdout?: string;
  /** Written many times. */
  readonly repeat?: { readonly text: string; readonly times: number };
  readonly delayMs?: number;
  readonly grandchild?: boolean;
  readonly exit?: number;
  readonly hang?: boolean;
  /** Loops without end, deaf to everything. */
  readonly busy?: boolean;
  /** Answers with this error code (JSON-RPC), or ends with this exit code. */
  readonly error?: number;
  readonly silent?: boolean;
  readonly result?: unknown;
  /** Answers under another request's number. */
  readonly answerId?: number;
}

/** A workflow as CUO tells of it. */
export interface FakeWorkflow {
  readonly slug: string;
  readonly cadence: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly skill_chain: readonly string[];
}

/** The whole script. */
export interface FakeScript {
  readonly protocol?: "both" | "cli";
  readonly personas: readonly {
    readonly slug: string;
    readonly title: string;
    readonly status: string;
    readonly workflows: readonly FakeWorkflow[];
  }[];
  readonly routes?: Readonly<
    Record<
      string,
      {
        readonly persona?: string;
        readonly workflow?: string;
        readonly confidence: number;
        readonly alternates: readonly string[];
      }
    >
  >;
  readonly rules?: readonly FakeRule[];
  /** Written to stdout before anything is read. */
  readonly preamble?: string;
  /** Written to stdout for each message read. */
  readonly chatter?: string;
  /** Answers in order, one after the other. */
  readonly oneAtATime?: boolean;
  /** Ignores SIGTERM and the end of stdin. */
  readonly rude?: boolean;
  readonly stepMs?: number;
  /** The command line's `execute` fails at this step. */
  readonly failStep?: number;
}
