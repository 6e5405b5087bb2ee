/** The real launcher around the test's worker. `--unguarded` first: the same without the sandbox, as a control. */
import { loadConfig } from "../../bridge/config/load.ts";
import { launch } from "../../bridge/sandbox/launch.ts";
import type { SandboxPermissions } from "../../bridge/sandbox/permissions.ts";
import { prepare } from "../../bridge/sandbox/prepare.ts";
import type { Targets } from "./targets.ts";

const [mode, targets, ...settings] = Deno.args;
const env = (name: string) => Deno.env.get(name);
const loaded = loadConfig({
  args: settings,
  env,
  readTextFile: Deno.readTextFileSync,
});
const prepared = prepare({
  command: "serve",
  args: [],
  loaded,
  env,
});
const dataDir = prepared.message.workDir as string;
furnish(dataDir);
const aims: Targets = { ...JSON.parse(targets as string), dataDir };
const code = await launch({
  entry: new URL("./escape_worker.ts", import.meta.url),
  message: { ...prepared.message, args: [JSON.stringify(aims)] },
  permissions: mode === "--unguarded"
    ? "inherit" as unknown as SandboxPermissions
    : prepared.permissions,
});
prepared.cleanUp();
Deno.exit(code);

/** What a careless or hostile neighbour may have left in the folder. */
function furnish(dir: string): void {
  const { otherProgram } = JSON.parse(targets as string) as Targets;
  for (const name of ["own.txt", "moved.txt", "moved2.txt"]) {
    Deno.writeTextFileSync(`${dir}/${name}`, "own");
  }
  Deno.copyFileSync(otherProgram, `${dir}/cyberos-cuo`);
}
