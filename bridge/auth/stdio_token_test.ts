import assert from "node:assert/strict";
import { BridgeError } from "../errors.ts";
import { createStdioTokenReader } from "./stdio_token.ts";

function reader(
  env: Record<string, string>,
  files: Record<string, string> = {},
) {
  return createStdioTokenReader({
    env: (name) => env[name],
    readFile: (path) => {
      const text = files[path];
      return text === undefined
        ? Promise.reject(new Error(`no such file: ${path}`))
        : Promise.resolve(text);
    },
  });
}

Deno.test("createStdioTokenReader() reads the file anew for each call, before the variable", async () => {
  const files: Record<string, string> = { "/t": " one\n" };
  const env = { CYBEROS_TOKEN_FILE: "/t", CYBEROS_ACCESS_TOKEN: "other" };
  const read = reader(env, files);
  assert.equal(await read(), "one");
  files["/t"] = "two";
  assert.equal(await read(), "two");
});

Deno.test("createStdioTokenReader() falls back to the variable, then to nothing", async () => {
  assert.equal(await reader({ CYBEROS_ACCESS_TOKEN: "x\n" })(), "x");
  assert.equal(await reader({ CYBEROS_ACCESS_TOKEN: " " })(), undefined);
  assert.equal(await reader({})(), undefined);
});

Deno.test("createStdioTokenReader() refuses an unusable file without naming its path", async () => {
  for (
    const files of <Record<string, string>[]> [{}, { "/secret/t": "" }, {
      "/secret/t": "x".repeat(70_000),
    }]
  ) {
    const read = reader({ CYBEROS_TOKEN_FILE: "/secret/t" }, files);
    await assert.rejects(read(), (error) => {
      assert(error instanceof BridgeError);
      assert.equal(error.code, "TOKEN_MISSING");
      assert.match(error.hint, /CYBEROS_TOKEN_FILE/);
      assert(!(error.message + error.hint).includes("secret"));
      return true;
    });
  }
});
