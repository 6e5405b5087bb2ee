/** Bytes to messages and back: frames are cut at 0x0A and nowhere else. */
import assert from "node:assert/strict";
import { StdioClient } from "../../support/stdio_client.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const encoder = new TextEncoder();

function routeFrame(query: string): Uint8Array {
  return encoder.encode(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "cyberos.cuo.route", arguments: { query } },
    }) + "\n",
  );
}

Deno.test("P2-AC20 an initialize on stdin is answered by one line on stdout", async () => {
  const client = new StdioClient();
  const { result } = await client.initialize();
  assert.equal(result.protocolVersion, "2025-11-25");
  await client.close();
  const lines = client.text.join("").split("\n");
  assert.equal(lines.length, 2);
  assert.equal(lines[1], "");
});

for (
  const [title, cut] of [
    ["one byte at a time", 1],
    ["two bytes at a time", 2],
    ["in the middle of a four-byte character", 3],
    ["whole", 100_000],
  ] as const
) {
  Deno.test(`STD-02 text of many scripts arrives unchanged, written ${title}`, async () => {
    const client = new StdioClient();
    await client.initialize();
    const query = "né — 𝄞 한 😀";
    const bytes = routeFrame(query);
    for (let at = 0; at < bytes.length; at += cut) {
      client.sendBytes(bytes.subarray(at, at + cut));
    }
    await client.answerTo(7);
    assert.equal(client.harness.upstreams.calls[0]?.input, query);
    await client.close();
  });
}

Deno.test("STD-03 raw U+2028, U+2029, U+0085 and an escaped VT are part of the text, both ways", async () => {
  const client = new StdioClient();
  await client.initialize();
  const query = "a\u2028b\u2029c\u0085d\u000b";
  client.harness.upstreams.behaviours.set("cuo.route", (input) => ({
    confidence: 0,
    alternates: [],
    hint: input,
  }));
  client.sendBytes(routeFrame(query));
  const { result } = await client.answerTo(7);
  assert.equal(result.structuredContent.hint, query);
  await client.close();
});

Deno.test("STD-04 one byte order mark before a frame is left out, before the first one and a later one", async () => {
  const client = new StdioClient();
  client.sendBytes([0xef, 0xbb, 0xbf]);
  client.sendText(`${PING}\n`);
  await client.answerTo(1);
  client.sendText(`\ufeff${PING.replace("1,", "2,")}\n`);
  await client.answerTo(2);
  client.sendText(`\ufeff\ufeff${PING}\n`);
  const { error } = await client.answerTo(null);
  assert.equal(error.code, -32700);
  await client.settled();
  await client.close();
});

Deno.test("CRLF, blank lines and spaces around a frame do no harm", async () => {
  const client = new StdioClient();
  client.sendText(`\r\n\n   \n  ${PING}  \r\n\t\r\n`);
  await client.answerTo(1);
  await client.close();
  assert.equal(client.received.length, 1);
});

Deno.test("STD-06 P2-FM02 lines that are no request are answered one by one, and the next request is served", async () => {
  const client = new StdioClient();
  client.sendText('{ not json !!\n"just a string"\n42\nnull\n');
  client.sendText('{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
  assert.deepEqual((await client.answerTo(9)).result, {});
  const codes = client.received.filter(({ id }) => id === null)
    .map(({ error }) => error.code);
  assert.deepEqual(codes.sort(), [-32600, -32600, -32600, -32700]);
  await client.close();
});

Deno.test("STD-08 a parse error never borrows the id 0 of a real request", async () => {
  const client = new StdioClient();
  client.send({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    },
  });
  client.sendText("{\n");
  client.sendText('{"jsonrpc":"2.0","method":"notifications/unknown"}\n');
  await client.settled();
  assert.equal(client.received.filter(({ id }) => id === 0).length, 1);
  assert.equal(client.received.filter(({ id }) => id === null).length, 1);
  await client.close();
});

for (
  const [title, bytes] of [
    ["a lone continuation byte", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["0xFF", [0xff]],
    ["a cut character", [0xf0, 0x9d, 0x84]],
  ] as const
) {
  Deno.test(`bytes that are not UTF-8 are a parse error, never U+FFFD: ${title}`, async () => {
    const client = new StdioClient();
    await client.initialize();
    const [head, tail] = new TextDecoder().decode(routeFrame("@")).split("@");
    client.sendBytes([
      ...encoder.encode(head),
      ...bytes,
      ...encoder.encode(tail),
    ]);
    const { error } = await client.answerTo(null);
    assert.equal(error.code, -32700);
    await client.settled();
    assert.deepEqual(client.harness.upstreams.calls, []);
    await client.close();
  });
}

Deno.test("STD-19 five large answers arrive whole and unmixed through a pipe that takes 4 KiB at a time", async () => {
  const client = new StdioClient({ maxWriteBytes: 4096 });
  await client.initialize();
  const text = "é".repeat(100_000);
  client.harness.upstreams.behaviours.set("cuo.route", () => ({
    confidence: 0,
    alternates: [],
    rationale: text,
  }));
  const answers = await Promise.all(
    Array.from(
      { length: 5 },
      (_, index) =>
        client.tool("cyberos.cuo.route", { query: `number ${index}` }),
    ),
  );
  for (const { result } of answers) {
    assert.equal(result.structuredContent.rationale, text);
  }
  await client.close();
});

Deno.test("STD-20 a line over the limit is refused once, skipped, and the next request is served", async () => {
  const client = new StdioClient({ serve: { maxLineBytes: 1000 } });
  for (let i = 0; i < 50; i++) client.sendText("a".repeat(60_000));
  client.sendText(`\n${PING}\n`);
  await client.answerTo(1);
  const refusals = client.received.filter(({ id }) => id === null);
  assert.equal(refusals.length, 1);
  assert.equal(refusals[0].error.code, -32600);
  assert.match(refusals[0].error.message, /1000 bytes/);
  const exact = PING.padEnd(1000, " ");
  client.sendText(`${exact}\n${exact} \n`);
  await client.until(() => client.received.length === 4);
  assert.equal(client.received[2].id, 1);
  assert.equal(client.received[3].id, null);
  await client.close();
});

Deno.test("a message that nests deeper than any tool needs is refused, at the limit it is read", async () => {
  const client = new StdioClient({ serve: { maxJsonDepth: 5 } });
  const nested = (depth: number, id: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"ping","params":${
      '{"a":'.repeat(depth)
    }1${"}".repeat(depth)}}\n`;
  client.sendText(nested(4, "1"));
  assert.deepEqual((await client.answerTo(1)).result, {});
  client.sendText(nested(5, '"deep"'));
  assert.equal((await client.answerTo("deep")).error.code, -32600);
  client.sendText(`${"[".repeat(1_000_000)}\n`);
  await client.until(() => client.received.length === 3);
  await client.settled();
  await client.close();
});

Deno.test("the last request is served though no line feed ends it", async () => {
  const client = new StdioClient();
  client.sendText(PING);
  await client.close();
  assert.equal(client.received[0]?.id, 1);
});
