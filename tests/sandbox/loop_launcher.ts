/** The real launcher around a worker that loops. */
import { loadConfig } from "../../bridge/config/load.ts";
import { launch } from "../../bridge/sandbox/launch.ts";
import { prepare } from "../../bridge/sandbox/prepare.ts";

const env = () => undefined;
const loaded = loadConfig({ args: [], env, readTextFile: () => "{}" });
const { message, permissions, cleanUp } = prepare({
  command: "serve",
  args: [],
  loaded,
  env,
});
const entry = new URL("./looping_worker.ts", import.meta.url);
const code = await launch({ entry, message, permissions });
cleanUp();
Deno.exit(code);
