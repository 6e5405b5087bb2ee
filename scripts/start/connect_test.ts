import assert from "node:assert/strict";
import { connectionHelp, denoCommand } from "./connect.ts";

Deno.test("connectionHelp() starts Deno as it was started here", () => {
  const own = connectionHelp(
    "/home/me/cyberos",
    denoCommand(undefined, "2.9.6"),
  );
  assert.match(
    own,
    /claude mcp add cyberos -- deno task --quiet --cwd \/home\/me\/cyberos bridge --embedded\n/,
  );
  const npx = connectionHelp("/home/me/cyberos", denoCommand("exec", "2.9.6"));
  assert.match(
    npx,
    /codex mcp add cyberos -- npx -y deno@2\.9\.6 task --quiet/,
  );
  assert.doesNotMatch(npx, /-- deno|"command":"deno"/);
  const [json = ""] = npx.match(/\{.*\}/) ?? [];
  assert.deepEqual(JSON.parse(json).mcpServers.cyberos, {
    command: "npx",
    args: [
      "-y",
      "deno@2.9.6",
      "task",
      "--quiet",
      "--cwd",
      "/home/me/cyberos",
      "bridge",
      "--embedded",
    ],
  });
});

Deno.test("connectionHelp() quotes a folder for the shell", () => {
  const help = connectionHelp("/home/it's me", ["deno"]);
  assert.match(help, /--cwd '\/home\/it'\\''s me' bridge/);
});
