/**
 * The caller's token on stdio.
 *
 * Source: PRODUCT decision D4; MCP 2025-11-25 authorization: stdio servers take
 * credentials from the environment.
 */
import { BridgeError } from "../errors.ts";

/** Where the token is looked up. Both are asked anew for each request. */
export interface StdioTokenSources {
  readonly env: (name: string) => string | undefined;
  /** Rejects where the file cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
}

const MAX_TOKEN_LENGTH = 65_536;

/**
 * Creates a reader of the present token: from the file that `CYBEROS_TOKEN_FILE`
 * names, so that it can be renewed without a restart, else from
 * `CYBEROS_ACCESS_TOKEN`.
 *
 * The reader gives `undefined` where neither is set.
 *
 * @throws {BridgeError} `TOKEN_MISSING`, by the reader, for a file that cannot be used.
 */
export function createStdioTokenReader(
  { env, readFile }: StdioTokenSources,
): () => Promise<string | undefined> {
  return async () => {
    const path = env("CYBEROS_TOKEN_FILE");
    if (!path) return env("CYBEROS_ACCESS_TOKEN")?.trim() || undefined;
    const text = (await readToken(path, readFile)).trim();
    if (text === "" || text.length > MAX_TOKEN_LENGTH) {
      throw unusable("The token file holds no token");
    }
    return text;
  };
}

async function readToken(
  path: string,
  readFile: StdioTokenSources["readFile"],
): Promise<string> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unusable("The token file cannot be read", cause);
  }
}

function unusable(message: string, cause?: unknown): BridgeError {
  return new BridgeError("TOKEN_MISSING", message, {
    cause,
    hint:
      "Sign in to CyberOS again, or correct the file that CYBEROS_TOKEN_FILE names.",
  });
}
