/** Deletes the embedded data folder. */
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import { ownFlags, print } from "./own_flags.ts";

/** Gives the exit code. */
export async function reset(message: LaunchMessage): Promise<number> {
  const { config, dataDir } = message;
  if (!config.embedded || dataDir === undefined) {
    print(
      "stderr",
      "cyberos-mcp-bridge reset deletes embedded data only: add --embedded",
    );
    return 2;
  }
  if (!ownFlags(message.args).has("yes")) {
    print(
      "stderr",
      `This deletes all embedded tasks, audit rows and the token key in "${dataDir}".\nRepeat it with --yes.`,
    );
    return 2;
  }
  const { resetDataFolder } = await import("../store/reset.ts");
  const outcome = await resetDataFolder(dataDir);
  print("stderr", outcome.message);
  return outcome.done ? 0 : 1;
}
