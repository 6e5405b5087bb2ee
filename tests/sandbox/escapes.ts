/**
 * Ways out of the sandbox that a bug, a hostile dependency or a hostile upstream
 * answer might try, each with an act of the same kind that must work.
 */
import { escapesByFile } from "./escapes_by_file.ts";
import { escapesByNetwork } from "./escapes_by_network.ts";
import { escapesByProgram } from "./escapes_by_program.ts";
import { escapesByRuntime } from "./escapes_by_runtime.ts";
import type { Targets } from "./targets.ts";

/** One way out. */
export interface Escape {
  /** As it stands in `docs/sandbox.md`. */
  readonly name: string;
  /** Throws when it is refused; gives `false` when it got nothing that it should not have. */
  attempt(targets: Targets): unknown;
  /** The permitted act beside it. Throws or gives `false` when it does not work. */
  control(targets: Targets): unknown;
}

/** All of them. */
export const ESCAPES: readonly Escape[] = [
  ...escapesByProgram,
  ...escapesByNetwork,
  ...escapesByFile,
  ...escapesByRuntime,
];
