/** The SQL driver of `--embedded`. */
import type { Logger, SqlDriver } from "../ports.ts";
import { createLocalDriver } from "./local_database.ts";

/** What the driver is told. */
export interface EmbeddedOptions {
  /** The folder to share with other bridges; absent (`--ephemeral`): memory, for this process alone. */
  readonly dataDir: string | undefined;
  readonly logger: Logger;
}

/** Makes the driver; nothing is loaded or opened before its first use. */
export function createEmbeddedDriver(options: EmbeddedOptions): SqlDriver {
  const { dataDir } = options;
  return createLocalDriver({
    logger: options.logger,
    async open() {
      if (dataDir === undefined) {
        return await (await import("./pglite.ts")).openPglite();
      }
      return await (await import("./shared_local.ts")).joinFolder(dataDir);
    },
  });
}
