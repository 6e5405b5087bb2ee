/**
 * `deno task start`: packs the shipped manifest, then talks to the embedded
 * bridge as a real MCP client would, and ends with the lines that connect a host.
 */
import { connectionHelp, denoCommand } from "./connect.ts";
import { packShipped } from "./pack.ts";
import { tour } from "./tour.ts";

const MANIFEST = "manifests/cyberos@1.0.0.plugin.json";

function say(text = ""): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

async function main(): Promise<number> {
  say("1. Packing the shipped plugin for Claude Code");
  const packed = await packShipped(MANIFEST, "dist");
  if (packed === undefined) return 1;
  say(`   ${packed.bundle_path}`);
  say(
    `   SHA-256 ${packed.sha256}, ${packed.size_bytes} bytes, signature ${packed.signature}`,
  );
  say(
    `   ${packed.tools_count} tools, ${packed.commands_count} commands, ${packed.skills_count} skills`,
  );
  say();
  say(
    "2. Calling all 8 tools of the embedded bridge, over stdio, with the MCP SDK's client",
  );
  const failed = await tour(say);
  say();
  say("3. Connecting a host to this embedded bridge");
  const deno = denoCommand(Deno.env.get("npm_command"), Deno.version.deno);
  say(connectionHelp(Deno.cwd(), deno));
  return failed === 0 ? 0 : 1;
}

Deno.exit(await main());
