/** The real launcher on a system that knows no signal, around a worker that is done at once. */
import { loadConfig } from "../../bridge/config/load.ts";
import { launch } from "../../bridge/sandbox/launch.ts";
import { prepare } from "../../bridge/sandbox/prepare.ts";

Deno.addSignalListener = (signal) => {
  throw new TypeError(`Windows does not know ${signal}`);
};
const env = () => undefined;
const loaded = loadConfig({ args: [], env, readTextFile: () => "{}" });
const { message, permissions, cleanUp } = prepare({
  command: "serve",
  args: [],
  loaded,
  env,
});
const entry = new URL(
  "data:text/javascript,onmessage=()=>postMessage({type:'exit',code:7})",
);
const code = await launch({ entry, message, permissions });
cleanUp();
Deno.exit(code);
