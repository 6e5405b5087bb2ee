/** Finding the CUO program, and what to say when it cannot be started. */
import { BridgeError } from "../../errors.ts";

const PATH_SEPARATOR = Deno.build.os === "windows" ? ";" : ":";

/**
 * The absolute path of a program, so that a folder put on PATH later cannot
 * stand in for it. A name stays a name where the bridge may not look at the
 * folders of PATH: the runtime then resolves `--allow-run=NAME` once at its own
 * start and refuses anything else by that name.
 */
export async function resolveProgram(
  program: string,
  path: string | undefined,
): Promise<string> {
  if (isPath(program)) return program;
  for (const folder of (path ?? "").split(PATH_SEPARATOR)) {
    if (!isPath(folder)) continue;
    const candidate = `${folder.replace(/[/\\]$/, "")}/${program}`;
    if (await isProgram(candidate)) return candidate;
  }
  return program;
}

/** Whether the text is an absolute path. */
export function isPath(text: string): boolean {
  return text.startsWith("/") || /^[A-Za-z]:[\\/]/.test(text);
}

async function isProgram(path: string): Promise<boolean> {
  try {
    const info = await Deno.stat(path);
    return info.isFile && (info.mode === null || (info.mode & 0o111) !== 0);
  } catch {
    return false;
  }
}

const INSTALL =
  "Install CyberOS's cyberos-cuo and put it on PATH, or set CYBEROS_CUO to its absolute path, then restart the bridge.";
const TRY =
  "To try CyberOS without an installation, start the bridge with --embedded.";

/** The refusal for a program that could not be started. */
export function startRefusal(cause: unknown): BridgeError {
  if (cause instanceof Deno.errors.NotFound) {
    return notConfigured(
      "The program cyberos-cuo was not found",
      `${INSTALL} ${TRY}`,
      cause,
    );
  }
  // A bridge that found no program at its start was given none to start, either.
  if (cause instanceof Deno.errors.NotCapable) {
    return notConfigured(
      "The program cyberos-cuo was not found, or the bridge may not start it",
      `${INSTALL} If it is installed, the bridge's --allow-run must name that very file. ${TRY}`,
      cause,
    );
  }
  if (cause instanceof Deno.errors.PermissionDenied) {
    return notConfigured(
      "The program cyberos-cuo cannot be executed",
      "Make the file in CYBEROS_CUO executable for the user of the bridge.",
      cause,
    );
  }
  return new BridgeError(
    "UPSTREAM_UNAVAILABLE",
    "The program cyberos-cuo could not be started",
    {
      cause,
      hint:
        "Call again in a moment. If it stays so, the operator must check CYBEROS_CUO and the machine's free memory and processes.",
    },
  );
}

function notConfigured(
  message: string,
  hint: string,
  cause: unknown,
): BridgeError {
  return new BridgeError("UPSTREAM_NOT_CONFIGURED", message, { hint, cause });
}
