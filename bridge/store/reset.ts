/** Deletes what `--embedded` has kept. */
import { openFolderLock } from "./folder_lock.ts";

/** What became of a reset, in words for the person who asked. */
export interface ResetOutcome {
  readonly done: boolean;
  readonly message: string;
}

// By name, for the folder may be somebody's home by mistake. The lock stays:
// another bridge may be about to take it.
const OURS: readonly string[] = [
  "db",
  "store.sock",
  "store.port",
  "issuer-key.json",
];

/** Removes from a data folder what bridges put there, unless one uses it. */
export async function resetDataFolder(dataDir: string): Promise<ResetOutcome> {
  try {
    await Deno.stat(dataDir);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { done: true, message: "There is no embedded data" };
  }
  const lock = await openFolderLock(dataDir);
  try {
    if (!await lock.tryAcquire()) {
      return {
        done: false,
        message:
          "Cannot reset the embedded data: a bridge uses it. Close the hosts that run cyberos-mcp-bridge --embedded, and repeat this",
      };
    }
    for (const name of OURS) {
      await Deno.remove(`${dataDir}/${name}`, { recursive: true })
        .catch((error) => {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        });
    }
    return { done: true, message: "The embedded data was deleted" };
  } finally {
    lock.release();
  }
}
