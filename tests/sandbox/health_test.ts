import assert from "node:assert/strict";
import { BRIDGE_FLAGS } from "./bridge_flags.ts";

const MAIN = new URL("../../bridge/main.ts", import.meta.url).pathname;

async function health(listen: string) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...BRIDGE_FLAGS, MAIN, "health", `--listen=${listen}`],
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("health gives 0 for a bridge that lives, also where it listens on every address", async () => {
  const asked: string[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      asked.push(new URL(request.url).pathname);
      return new Response();
    },
  );
  const { code, stdout } = await health(`0.0.0.0:${server.addr.port}`);
  assert.equal(code, 0);
  assert.equal(stdout, `alive at 127.0.0.1:${server.addr.port}\n`);
  assert.deepEqual(asked, ["/healthz"]);
});

Deno.test("health gives 1 for a bridge that is unwell, for a redirect, and for nobody", async () => {
  let answer: Response;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => answer,
  );
  const address = `127.0.0.1:${server.addr.port}`;
  answer = new Response("", { status: 503 });
  assert.deepEqual(await health(address), {
    code: 1,
    stdout: "",
    stderr: `${address} answers 503\n`,
  });
  answer = Response.redirect("http://192.0.2.1/");
  assert.equal((await health(address)).code, 1);
  await server.shutdown();
  const gone = await health(address);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /Nothing answers at 127\.0\.0\.1/);
});
