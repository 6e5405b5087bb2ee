/** Every way in which the memory service fails, each followed by a call that works. */
import assert from "node:assert/strict";
import { createMemory } from "../../../bridge/upstream/memory/memory.ts";
import type { MemoryOptions } from "../../../bridge/upstream/memory/memory.ts";
import { BridgeError } from "../../../bridge/errors.ts";
import type { Memory } from "../../../bridge/ports.ts";
import { TENANT_A, TENANT_B } from "../../support/tokens.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { after } from "./cuo_bench.ts";
import {
  type Answer,
  type RestServer,
  withRest,
  withTcp,
} from "./rest_bench.ts";

const SECRET = "audit row 4827 of somebody";
const ROW = {
  kind: "decision",
  body: { a: 1 },
  idempotencyKey: "key-1",
} as const;

const GOOD: Answer = ({ method }) =>
  method === "POST"
    ? Response.json({ seq: 7, recorded_at: "2026-11-30T00:00:00Z" }, {
      status: 201,
    })
    : Response.json({
      rows: [{ seq: 1, kind: "decision", tenant_id: TENANT_A, body: {} }],
      next_seq: null,
    });

type Bench = UpstreamBench & { memory: Memory; server: RestServer };

function memoryAt(
  endpoint: string | undefined,
  options: {
    readonly [K in keyof MemoryOptions]?: MemoryOptions[K] | undefined;
  } = {},
): UpstreamBench & { memory: Memory } {
  const bench = new UpstreamBench();
  const memory = createMemory({
    endpoint,
    token: () => "service-secret",
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    timeoutMs: 600,
    ...options,
  });
  return Object.assign(bench, { memory });
}

function withMemory(
  answer: Answer,
  run: (bench: Bench) => Promise<void>,
  options: Partial<MemoryOptions> = {},
): Promise<void> {
  return withRest(
    answer,
    (server) =>
      run(Object.assign(memoryAt(server.endpoint, options), { server })),
  );
}

const read = (
  bench: UpstreamBench & { memory: Memory },
  signal?: AbortSignal,
) =>
  bench.memory.readAudit(
    { limit: 50 },
    bench.context(signal === undefined ? {} : { signal }),
  );
const append = (bench: UpstreamBench & { memory: Memory }) =>
  bench.memory.appendAudit(ROW, bench.context());

function shown(error: BridgeError): string {
  return JSON.stringify([error.message, error.hint, error.data]);
}

/** The control after each fault. */
async function recovers(bench: Bench): Promise<void> {
  bench.server.answer(GOOD);
  assert.equal((await read(bench)).rows.length, 1);
  assert.equal((await append(bench)).seq, 7);
}

Deno.test("createMemory() sends what the contract says", () =>
  withMemory(GOOD, async (bench) => {
    const context = bench.context({ subject: "alice" });
    await bench.memory.readAudit({
      actor: "bob & co",
      kind: "decision",
      sinceSeq: 5,
      limit: 20,
    }, context);
    const [get] = bench.server.seen;
    assert.equal(get!.url.pathname, "/v1/audit");
    assert.deepEqual(Object.fromEntries(get!.url.searchParams), {
      tenant_id: TENANT_A,
      actor: "bob & co",
      kind: "decision",
      since_seq: "5",
      limit: "20",
    });
    assert.ok(
      get!.headers.get("traceparent")?.includes(context.span.context.traceId),
    );
    assert.deepEqual(await bench.memory.appendAudit(ROW, context), {
      seq: 7,
      recordedAt: "2026-11-30T00:00:00Z",
    });
    const post = bench.server.seen[1]!;
    assert.deepEqual(JSON.parse(post.body), {
      kind: "decision",
      actor_id: "alice",
      tenant_id: TENANT_A,
      body: { a: 1 },
    });
    assert.equal(post.headers.get("idempotency-key"), "key-1");
    assert.equal(post.headers.get("content-type"), "application/json");
  }));

Deno.test("AUTH-18 createMemory() sends the bridge's own credential and nothing of the caller's", () =>
  withMemory(GOOD, async (bench) => {
    await read(bench);
    await append(bench);
    for (const { headers } of bench.server.seen) {
      assert.equal(headers.get("authorization"), "Bearer service-secret");
      assert.equal(headers.get("cookie"), null);
    }
    const anonymous = memoryAt(bench.server.endpoint, {
      token: () => undefined,
    });
    await read(anonymous);
    assert.equal(bench.server.seen.at(-1)!.headers.get("authorization"), null);
  }));

Deno.test("AUTH-18 HTTP-29 createMemory() follows no redirect, so that no credential reaches another host", () =>
  withMemory(GOOD, (bench) =>
    withRest(GOOD, async (elsewhere) => {
      for (const status of [301, 302, 303, 307, 308]) {
        bench.server.answer(() =>
          new Response(SECRET, {
            status,
            headers: { location: `${elsewhere.endpoint}/v1/audit` },
          })
        );
        for (const call of [read, append]) {
          const error = await refusal(call(bench));
          assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
          assert.match(error.hint, /MEMORY_ENDPOINT/);
          assert.ok(!shown(error).includes(elsewhere.endpoint));
        }
      }
      assert.equal(elsewhere.seen.length, 0);
      await recovers(bench);
    })));

Deno.test("P2-AC11 createMemory() answers upstream_unavailable while the service is unreachable, and works once it is there", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const bench = memoryAt(`http://127.0.0.1:${port}`);
  for (const call of [read, append]) {
    const error = await refusal(call(bench));
    assert.equal(error.class, "upstream_unavailable");
    assert.equal(error.retryable, true);
    assert.ok(!shown(error).includes(String(port)));
  }
  assert.equal((await bench.memory.status(after(2_000))).state, "down");
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen() {} },
    () => Response.json({ rows: [], next_seq: null }),
  );
  assert.deepEqual((await read(bench)).rows, []);
  await server.shutdown();
});

Deno.test("HTTP-29 createMemory() answers upstream_unavailable for a host that does not exist", async () => {
  const error = await refusal(read(memoryAt("http://memory.invalid")));
  assert.equal(error.class, "upstream_unavailable");
});

Deno.test("createMemory() says what to set where the endpoint is missing or wrong", async () => {
  for (
    const endpoint of [
      undefined,
      "",
      "memory",
      "ftp://x",
      "https://user:secret@x",
    ]
  ) {
    const bench = memoryAt(endpoint);
    const error = await refusal(read(bench));
    assert.equal(error.code, "UPSTREAM_NOT_CONFIGURED");
    assert.match(error.hint, /MEMORY_ENDPOINT/);
    assert.ok(!shown(error).includes("secret"));
    assert.equal(
      (await bench.memory.status(after(1_000))).state,
      "not configured",
    );
  }
});

Deno.test("P2-FM04 createMemory() gives a silent service 5 seconds, and says upstream_unavailable", () =>
  withTcp(async (connection) => {
    const buffer = new Uint8Array(1024);
    while (await connection.read(buffer) !== null);
  }, async (endpoint) => {
    const bench = memoryAt(endpoint, { timeoutMs: undefined });
    const started = performance.now();
    const error = await refusal(read(bench));
    const tookMs = performance.now() - started;
    assert.equal(error.code, "UPSTREAM_TIMEOUT");
    assert.equal(error.class, "upstream_unavailable");
    assert.equal(error.retryable, true);
    assert.ok(tookMs >= 4_900 && tookMs < 6_500, String(tookMs));
  }));

Deno.test("HTTP-29 createMemory() bounds a body that drips, a cut one and a reset connection", async () => {
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
  const faults: readonly [string, (c: Deno.Conn) => Promise<void>, RegExp][] = [
    ["drips", async (connection) => {
      await connection.write(new TextEncoder().encode(head));
      for (let i = 0; i < 40; i++) {
        await connection.write(new TextEncoder().encode(" "));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }, /in time/],
    ["cut", async (connection) => {
      await connection.read(new Uint8Array(4096));
      await connection.write(new TextEncoder().encode(`${head}{"rows":`));
    }, /cut off|cannot be reached/],
    [
      "closed",
      (connection) => Promise.resolve(connection.close()),
      /cannot be reached/,
    ],
    ["half an answer", async (connection) => {
      await connection.read(new Uint8Array(4096));
      await connection.write(new TextEncoder().encode("HTTP/1.1 200"));
    }, /cannot be reached/],
    ["no HTTP", async (connection) => {
      await connection.read(new Uint8Array(4096));
      await connection.write(new TextEncoder().encode("SSH-2.0-OpenSSH\r\n"));
    }, /cannot be reached/],
  ];
  for (const [name, serve, message] of faults) {
    await withTcp(serve, async (endpoint) => {
      const started = performance.now();
      const error = await refusal(read(memoryAt(endpoint)));
      assert.equal(error.class, "upstream_unavailable", name);
      assert.match(error.message, message, name);
      assert.ok(performance.now() - started < 1_500, name);
    });
  }
});

Deno.test("HTTP-29 createMemory() survives a kept connection that the service closes", async () => {
  let served = 0;
  await withTcp(async (connection) => {
    // One answer a connection, and no word about closing it.
    await connection.read(new Uint8Array(8192));
    const body = JSON.stringify({ rows: [], next_seq: null });
    await connection.write(new TextEncoder().encode(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    ));
    served++;
  }, async (endpoint) => {
    const bench = memoryAt(endpoint);
    for (let i = 0; i < 5; i++) await read(bench);
    assert.ok(served >= 5);
  });
});

const STATUSES:
  readonly (readonly [number, "read" | "append", string, string])[] = [
    [400, "read", "ARGUMENTS_INVALID", "input_validation"],
    [404, "read", "NOT_FOUND", "input_validation"],
    [422, "read", "ARGUMENTS_INVALID", "input_validation"],
    [409, "append", "CONFLICT", "input_validation"],
    [413, "append", "ARGUMENTS_INVALID", "input_validation"],
    [422, "append", "ARGUMENTS_INVALID", "input_validation"],
    [404, "append", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [401, "read", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [401, "append", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [403, "read", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [418, "read", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [429, "read", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [500, "read", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
    [503, "append", "UPSTREAM_UNAVAILABLE", "upstream_unavailable"],
  ];

Deno.test("HTTP-29 P2-AC22 createMemory() maps each status, and shows not a byte of its body", () =>
  withMemory(GOOD, async (bench) => {
    for (const [status, call, code, errorClass] of STATUSES) {
      bench.server.answer(() =>
        Response.json({ error: SECRET, row: { seq: 4827 } }, { status })
      );
      const error = await refusal(
        call === "read" ? read(bench) : append(bench),
      );
      assert.equal(error.code, code, `${call} ${status}`);
      assert.equal(error.class, errorClass);
      assert.ok(!/somebody/.test(shown(error)), `${status} leaks`);
      assert.ok(
        !/somebody/.test(
          JSON.stringify([bench.log.lines, bench.telemetry.spans]),
        ),
        `${status} leaks to the log`,
      );
      await recovers(bench);
    }
  }));

Deno.test("P2-AC22 createMemory() says of a missing row only that there is none", () =>
  withMemory(
    () => Response.json({ detail: SECRET }, { status: 404 }),
    async (bench) => {
      const error = await refusal(read(bench));
      assert.equal(error.message, "The audit memory has no such rows");
      assert.ok(!shown(error).includes("4827"));
    },
  ));

Deno.test("HTTP-29 createMemory() refuses bodies that are no answer", () =>
  withMemory(GOOD, async (bench) => {
    const bodies: readonly (readonly [string, () => Response])[] = [
      [
        "HTML",
        () =>
          new Response("<html>", { headers: { "content-type": "text/html" } }),
      ],
      [
        "HTML as JSON",
        () =>
          new Response("<html>", {
            headers: { "content-type": "application/json" },
          }),
      ],
      ["empty", () => new Response("")],
      ["204", () => new Response(null, { status: 204 })],
      ["not UTF-8", () => new Response(Uint8Array.of(0x7b, 0xff, 0x7d))],
      ["huge", () => new Response("x".repeat(5 * 1024 * 1024))],
      ["a number", () => Response.json(7)],
      ["null", () => Response.json(null)],
      ["deep", () => new Response("[".repeat(10_000) + "]".repeat(10_000))],
      ["no rows", () => Response.json({ next_seq: 1 })],
      ["rows of text", () => Response.json({ rows: ["x"] })],
      ["a broken next_seq", () => Response.json({ rows: [], next_seq: -1 })],
      ["a broken seq", () => Response.json({ rows: [{ seq: 1.5 }] })],
    ];
    for (const [name, body] of bodies) {
      bench.server.answer(body);
      const error = await refusal(read(bench));
      assert.equal(error.code, "UPSTREAM_UNAVAILABLE", name);
      if (!name.includes("rows") && !name.includes("seq")) {
        assert.equal(
          (await refusal(append(bench))).code,
          "UPSTREAM_UNAVAILABLE",
          name,
        );
      }
      await recovers(bench);
    }
    bench.server.answer(() =>
      new Response(`\uFEFF${JSON.stringify({ rows: [], next_seq: null })}`)
    );
    assert.deepEqual((await read(bench)).rows, [], "a byte order mark is fine");
  }));

Deno.test("HTTP-29 createMemory() reads no more than it may of a body that does not say how long it is", () =>
  withMemory(GOOD, async (bench) => {
    let sentBytes = 0;
    const encoder = new TextEncoder();
    const chunk = encoder.encode("x".repeat(64 * 1024));
    bench.server.answer(() =>
      new Response(
        new ReadableStream({
          start: (stream) =>
            stream.enqueue(encoder.encode('{"rows":[],"next_seq":null,"x":"')),
          pull(stream) {
            if (sentBytes < 64 * 1024 * 1024) {
              sentBytes += chunk.length;
              stream.enqueue(chunk);
            } else {
              stream.enqueue(encoder.encode('"}'));
              stream.close();
            }
          },
        }),
      )
    );
    const error = await refusal(read(bench));
    assert.match(error.message, /larger than allowed/);
    assert.ok(sentBytes < 32 * 1024 * 1024, "it read on");
    await recovers(bench);
  }, { timeoutMs: 5_000 }));

Deno.test("HTTP-29 createMemory() passes on both forms of Retry-After and never sleeps past the deadline", () =>
  withMemory(GOOD, async (bench) => {
    const now = Date.parse("2026-11-30T12:00:00Z");
    const fixed = memoryAt(bench.server.endpoint, {
      clock: { now: () => now },
    });
    for (const header of ["3600", "Mon, 30 Nov 2026 13:00:00 GMT"]) {
      bench.server.answer(() =>
        new Response(null, { status: 429, headers: { "retry-after": header } })
      );
      const started = performance.now();
      const error = await refusal(read(fixed));
      assert.equal(error.retryAfterSeconds, 3600, header);
      assert.ok(performance.now() - started < 400, "it waited");
    }
    const before = bench.server.seen.length;
    let refusals = 1;
    bench.server.answer((seen, request) =>
      refusals-- > 0
        ? new Response(null, { status: 429, headers: { "retry-after": "0" } })
        : GOOD(seen, request)
    );
    await read(bench);
    assert.equal(
      bench.server.seen.length - before,
      2,
      "a short pause is waited for",
    );
  }));

Deno.test("HTTP-29 createMemory() repeats what is safe to repeat, with the same key, and nothing else", () =>
  withMemory(GOOD, async (bench) => {
    for (const call of [read, append]) {
      for (
        const [status, times] of [[503, 3], [502, 3], [504, 3], [500, 1], [
          401,
          1,
        ], [422, 1]] as const
      ) {
        const before = bench.server.seen.length;
        bench.server.answer(() => new Response(null, { status }));
        await refusal(call(bench));
        const sent = bench.server.seen.slice(before);
        assert.equal(sent.length, times, `${call.name} ${status}`);
        assert.equal(
          new Set(sent.map((s) => s.headers.get("idempotency-key"))).size,
          1,
        );
        assert.equal(new Set(sent.map((s) => s.body)).size, 1);
      }
    }
    let failures = 2;
    bench.server.answer((seen, request) =>
      failures-- > 0 ? new Response(null, { status: 503 }) : GOOD(seen, request)
    );
    assert.equal((await append(bench)).seq, 7);
  }, { timeoutMs: 2_000 }));

Deno.test("createMemory() passes on no row of another tenant, nor anything beside it", () =>
  withMemory(GOOD, async (bench) => {
    for (const tenant_id of [TENANT_B, null, 7]) {
      bench.server.answer(() =>
        Response.json({
          rows: [
            { seq: 1, tenant_id: TENANT_A, body: {} },
            { seq: 2, tenant_id, body: { secret: SECRET } },
          ],
          next_seq: 2,
        })
      );
      const error = await refusal(read(bench));
      assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
      assert.ok(!/4827/.test(shown(error)) && !shown(error).includes(TENANT_B));
      assert.ok(
        bench.log.lines.some((l) =>
          l.level === "error" && /another tenant/.test(l.event)
        ),
      );
      await recovers(bench);
    }
    bench.server.answer(() =>
      Response.json({
        rows: [{ seq: 1, tenant_id: TENANT_A.toUpperCase() }, { seq: 2 }],
      })
    );
    assert.equal(
      (await read(bench)).rows.length,
      2,
      "case does not matter, and the contract promises no tenant",
    );
  }));

Deno.test("createMemory() clips a service that ignores the limit, without losing rows", () =>
  withMemory(
    () =>
      Response.json({
        rows: Array.from({ length: 80 }, (_, i) => ({ seq: i + 1 })),
        next_seq: 80,
      }),
    async (bench) => {
      const page = await bench.memory.readAudit({ limit: 10 }, bench.context());
      assert.equal(page.rows.length, 10);
      assert.equal(page.nextSeq, 10);
    },
  ));

Deno.test("createMemory() ends at once when the caller leaves", () =>
  withMemory(
    () =>
      new Promise((resolve) =>
        setTimeout(() => resolve(Response.json({ rows: [] })), 300)
      ),
    async (bench) => {
      const controller = new AbortController();
      const call = refusal(read(bench, controller.signal));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const started = performance.now();
      controller.abort();
      assert.equal((await call).code, "TASK_CANCELLED");
      assert.ok(performance.now() - started < 200);
      const reason = new BridgeError(
        "UPSTREAM_TIMEOUT",
        "The call took longer than 30 s",
      );
      assert.equal(
        await refusal(read(bench, AbortSignal.abort(reason))),
        reason,
      );
    },
  ));

Deno.test("createMemory() opens a client span per call with HTTP's attributes and no content", () =>
  withMemory(GOOD, async (bench) => {
    const context = bench.context();
    await bench.memory.readAudit({ actor: "somebody", limit: 5 }, context);
    const span = bench.telemetry.spans.find((s) =>
      s.name === "memory.read_audit"
    )!;
    assert.equal(span.traceId, context.span.context.traceId);
    assert.equal(span.options.kind, "client");
    assert.equal(span.attributes["http.request.method"], "GET");
    assert.equal(span.attributes["http.response.status_code"], 200);
    assert.equal(span.attributes["url.template"], "/v1/audit");
    assert.equal(span.ended, 1);
    assert.ok(!JSON.stringify(span.attributes).includes("somebody"));
    bench.server.answer(() => new Response(null, { status: 500 }));
    await refusal(read(bench));
    assert.equal(
      bench.telemetry.spans.at(-1)!.errorType,
      "upstream_unavailable",
    );
  }));

Deno.test("status() of createMemory() tells a wrong credential, a redirect and errors apart, and asks once in a while", async () => {
  const states: readonly (readonly [number, string, RegExp | undefined])[] = [
    [200, "ok", undefined],
    [422, "ok", undefined],
    [401, "down", /CYBEROS_MEMORY_TOKEN/],
    [302, "down", /MEMORY_ENDPOINT/],
    [500, "down", undefined],
  ];
  for (const [status, state, detail] of states) {
    await withMemory(() => new Response(null, { status }), async (bench) => {
      const answers = await Promise.all(
        [1, 2, 3].map(() => bench.memory.status(after(1_000))),
      );
      assert.equal(answers[0]!.state, state, String(status));
      if (detail !== undefined) assert.match(answers[0]!.detail ?? "", detail);
      assert.equal(bench.server.seen.length, 1);
    });
  }
});

Deno.test("createMemory() keeps the filter out of what the log writes of an unreachable service", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const bench = memoryAt(`http://127.0.0.1:${port}`);
  const error = await refusal(bench.memory.readAudit(
    { actor: "actor-marker", kind: "kind-marker", limit: 50 },
    bench.context(),
  ));
  assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
  let written = "";
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    written += `${cause.stack} ${cause.message}`;
  }
  assert.match(written, /connection refused/);
  assert.doesNotMatch(written, new RegExp(`marker|${TENANT_A}`));
});

Deno.test("HTTP-29 createMemory() refuses an answer in countless pieces, and takes one in many", async () => {
  const inPieces = (pad: string, count: number) => (): Response => {
    const encoder = new TextEncoder();
    let sent = 0;
    return new Response(
      new ReadableStream({
        start: (stream) =>
          stream.enqueue(encoder.encode('{"rows":[],"next_seq":null,"x":"')),
        pull(stream) {
          if (sent++ < count) return stream.enqueue(encoder.encode(pad));
          stream.enqueue(encoder.encode('"}'));
          stream.close();
        },
      }),
    );
  };
  // In this process, as a server of Deno's own would join the pieces.
  const answering = (answer: () => Response) =>
    memoryAt("http://memory.test", {
      fetch: () => Promise.resolve(answer()),
    });
  assert.deepEqual((await read(answering(inPieces("x", 5_000)))).rows, []);
  assert.deepEqual(
    (await read(answering(inPieces("x".repeat(1_000), 3_000)))).rows,
    [],
  );
  const error = await refusal(read(answering(inPieces("x", 200_000))));
  assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
  assert.match(error.message, /larger than allowed/);
});
