/** When CUO says no: is it a name that does not exist, and which one was meant? */
import { BridgeError } from "../../errors.ts";
import { didYouMean } from "../common/nearest.ts";
import type { CuoDriver, CuoRefusal, DriverCall } from "./driver.ts";

/** What the call named. */
export interface Names {
  readonly persona: string;
  readonly workflow?: string;
}

/** The refusal for a persona that is not in the list. */
export function unknownPersona(
  persona: string,
  known: Iterable<string>,
): BridgeError {
  return new BridgeError("NOT_FOUND", `No persona "${shown(persona)}"`, {
    hint: didYouMean(
      persona,
      known,
      "cyberos.cuo.list_personas lists all of them.",
    ),
  });
}

/** The refusal for a workflow that the persona does not have. */
export function unknownWorkflow(
  names: Required<Names>,
  known: Iterable<string>,
): BridgeError {
  return new BridgeError(
    "NOT_FOUND",
    `The persona "${shown(names.persona)}" has no workflow "${
      shown(names.workflow)
    }"`,
    {
      hint: didYouMean(
        names.workflow,
        known,
        "cyberos.cuo.list_workflows lists the persona's workflows.",
      ),
    },
  );
}

/**
 * Asks CUO which names exist, to tell an unknown name from a CUO that fails.
 *
 * @returns The refusal for the caller; `undefined` where all names are known or
 * CUO does not say.
 */
export async function unknownName(
  driver: CuoDriver,
  names: Names,
  call: DriverCall,
): Promise<BridgeError | undefined> {
  try {
    const personas = await driver.listPersonas(call);
    const slugs = personas.map((persona) => persona.slug);
    if (!slugs.includes(names.persona)) {
      return unknownPersona(names.persona, slugs);
    }
    const { persona, workflow } = names;
    if (workflow === undefined) return undefined;
    const workflows = await driver.listWorkflows(persona, call);
    const known = workflows.map(({ slug }) => slug);
    return known.includes(workflow)
      ? undefined
      : unknownWorkflow({ persona, workflow }, known);
  } catch {
    return undefined;
  }
}

/** The refusal for a CUO that says no although all names are known. */
export function refusalOf(error: CuoRefusal): BridgeError {
  if (error.otherwise !== undefined) return error.otherwise;
  if (error.kind === "invalid") {
    return new BridgeError(
      "ARGUMENTS_INVALID",
      "CUO does not accept these arguments",
      {
        cause: error,
        hint: "Check the inputs: cyberos.cuo.list_workflows names them.",
      },
    );
  }
  if (error.kind === "unknown method") {
    return new BridgeError(
      "UPSTREAM_UNAVAILABLE",
      "The installed cyberos-cuo cannot do this",
      {
        cause: error,
        retryable: false,
        hint:
          "The operator must update cyberos-cuo, or set CYBEROS_CUO_PROTOCOL=cli to use its command line.",
      },
    );
  }
  return new BridgeError("UPSTREAM_UNAVAILABLE", "CUO could not do this", {
    cause: error,
    hint:
      "Call again. If it stays so, the operator must look at cyberos-cuo's messages in the bridge's log.",
  });
}

function shown(name: string): string {
  return name.replace(/\p{Cc}/gu, " ").slice(0, 64);
}
