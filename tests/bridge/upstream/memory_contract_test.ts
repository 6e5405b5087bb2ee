/** The memory port's contract, on the embedded service within the process and over real HTTP. */
import assert from "node:assert/strict";
import { createMemoryService } from "../../../bridge/upstream/embedded/memory_service.ts";
import { createMemory } from "../../../bridge/upstream/memory/memory.ts";
import type { Memory } from "../../../bridge/ports.ts";
import {
  type EmbeddedDatabase,
  embeddedDatabase,
} from "../../support/embedded_database.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { after } from "./cuo_bench.ts";

const TOKEN = "service-secret";
let shared: Promise<EmbeddedDatabase> | undefined;

interface Bench extends UpstreamBench {
  readonly memory: Memory;
}

async function withMemory(
  transport: "in process" | "HTTP",
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  const { driver } = await (shared ??= embeddedDatabase());
  const bench = new UpstreamBench();
  const service = createMemoryService({
    sql: () => Promise.resolve(driver),
    token: TOKEN,
    log: bench.log,
  });
  const server = transport === "HTTP"
    ? Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, service)
    : undefined;
  const memory = createMemory({
    endpoint: server === undefined
      ? "http://memory.invalid"
      : `http://127.0.0.1:${server.addr.port}`,
    ...(server === undefined ? { fetch: service } : {}),
    token: () => TOKEN,
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
  });
  try {
    await run(Object.assign(bench, { memory }));
  } finally {
    await memory.close();
    await server?.shutdown();
  }
}

const CASES: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  ["appends rows and reads them back, oldest first", async (bench) => {
    const context = () => bench.context({ tenantId, subject: "alice" });
    const tenantId = crypto.randomUUID();
    for (const n of [1, 2, 3]) {
      const receipt = await bench.memory.appendAudit(
        { kind: "decision", body: { n }, idempotencyKey: crypto.randomUUID() },
        context(),
      );
      assert.equal(receipt.seq, n);
      assert.match(receipt.recordedAt ?? "", /^\d{4}-\d\d-\d\dT.*Z$/);
    }
    const { rows, nextSeq } = await bench.memory.readAudit(
      { limit: 10 },
      context(),
    );
    assert.deepEqual(
      rows.map((r) => [r["seq"], r["kind"], r["actor_id"], r["body"]]),
      [
        [1, "decision", "alice", { n: 1 }],
        [2, "decision", "alice", { n: 2 }],
        [3, "decision", "alice", { n: 3 }],
      ],
    );
    assert.equal(nextSeq, null);
  }],
  [
    "filters by actor, kind and sequence number, a page at a time",
    async (bench) => {
      const tenantId = crypto.randomUUID();
      for (let n = 1; n <= 7; n++) {
        await bench.memory.appendAudit(
          {
            kind: n % 2 === 0 ? "even" : "odd",
            body: { n },
            idempotencyKey: String(n),
          },
          bench.context({ tenantId, subject: n < 4 ? "alice" : "bob" }),
        );
      }
      const seqs = async (filter: Parameters<Memory["readAudit"]>[0]) => {
        const page = await bench.memory.readAudit(
          filter,
          bench.context({ tenantId }),
        );
        return [page.rows.map((r) => r["seq"]), page.nextSeq];
      };
      assert.deepEqual(await seqs({ limit: 50, kind: "even" }), [
        [2, 4, 6],
        null,
      ]);
      assert.deepEqual(await seqs({ limit: 50, actor: "alice" }), [
        [1, 2, 3],
        null,
      ]);
      assert.deepEqual(await seqs({ limit: 3 }), [[1, 2, 3], 3]);
      assert.deepEqual(await seqs({ limit: 3, sinceSeq: 3 }), [[4, 5, 6], 6]);
      assert.deepEqual(await seqs({ limit: 3, sinceSeq: 6 }), [[7], null]);
      assert.deepEqual(
        await seqs({ limit: 1, kind: "odd", actor: "bob", sinceSeq: 4 }),
        [[5], 5],
      );
      assert.deepEqual(await seqs({ limit: 50, sinceSeq: 9007199254740991 }), [
        [],
        null,
      ]);
    },
  ],
  [
    "appends a row once under one key, and refuses another row under it",
    async (bench) => {
      const tenantId = crypto.randomUUID();
      const append = (body: { n: number }, idempotencyKey = "key") =>
        bench.memory.appendAudit(
          { kind: "decision", body, idempotencyKey },
          bench.context({ tenantId }),
        );
      const seqs = await Promise.all(
        Array.from({ length: 10 }, () => append({ n: 1 })),
      );
      assert.ok(seqs.every(({ seq }) => seq === 1));
      const error = await refusal(append({ n: 2 }));
      assert.equal(error.code, "CONFLICT");
      assert.equal((await append({ n: 2 }, "ключ из любого текста\n")).seq, 2);
      assert.equal((await append({ n: 2 }, "ключ из любого текста\n")).seq, 2);
      const other = await bench.memory.appendAudit(
        { kind: "decision", body: { n: 3 }, idempotencyKey: "key" },
        bench.context({ tenantId: crypto.randomUUID() }),
      );
      assert.equal(other.seq, 1, "another tenant's key is another key");
    },
  ],
  ["numbers concurrent rows without gap", async (bench) => {
    const tenantId = crypto.randomUUID();
    const receipts = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        bench.memory.appendAudit(
          { kind: "decision", body: { n }, idempotencyKey: String(n) },
          bench.context({ tenantId }),
        )),
    );
    assert.deepEqual(
      receipts.map((r) => r.seq).sort((a, b) => a - b),
      Array.from({ length: 30 }, (_, i) => i + 1),
    );
  }],
  ["shows a tenant its own rows only", async (bench) => {
    const [a, b] = [crypto.randomUUID(), crypto.randomUUID()];
    await bench.memory.appendAudit(
      { kind: "decision", body: { secret: "of a" }, idempotencyKey: "1" },
      bench.context({ tenantId: a }),
    );
    const seen = await bench.memory.readAudit(
      { limit: 50 },
      bench.context({ tenantId: b }),
    );
    assert.deepEqual(seen.rows, []);
    const own = await bench.memory.readAudit(
      { limit: 50 },
      bench.context({ tenantId: a }),
    );
    assert.equal(own.rows.length, 1);
  }],
  [
    "keeps any JSON body as it is, and refuses what it cannot keep",
    async (bench) => {
      const tenantId = crypto.randomUUID();
      const body = {
        text: 'né — 𝄞 한 \u2028 \\u0000 "quoted"',
        deep: { list: [1, 2.5, null, true, { a: [] }] },
        "": "empty name",
        __proto__x: 1,
      };
      await bench.memory.appendAudit(
        { kind: "x", body, idempotencyKey: "1" },
        bench.context({ tenantId }),
      );
      const { rows } = await bench.memory.readAudit(
        { limit: 1 },
        bench.context({ tenantId }),
      );
      assert.deepEqual(rows[0]!["body"], body);
      const bad = [
        { kind: "x", body: { a: "nul \0" } },
        { kind: "x", body: { a: "lone \ud800" } },
        { kind: "Not A Kind", body: {} },
        { kind: "x", body: { a: "x".repeat(300_000) } },
      ];
      for (const row of bad) {
        const error = await refusal(
          bench.memory.appendAudit({
            ...row,
            idempotencyKey: crypto.randomUUID(),
          }, bench.context({ tenantId })),
        );
        assert.equal(error.code, "ARGUMENTS_INVALID");
      }
      assert.equal(
        (await bench.memory.readAudit(
          { limit: 50 },
          bench.context({ tenantId }),
        )).rows.length,
        1,
      );
    },
  ],
  ["answers ok for readiness", async (bench) => {
    assert.deepEqual(await bench.memory.status(after(2_000)), {
      name: "memory",
      state: "ok",
    });
  }],
];

for (const transport of ["in process", "HTTP"] as const) {
  for (const [name, run] of CASES) {
    Deno.test({
      name: `createMemory() ${name} (${transport})`,
      // The file's one PGlite outlives its tests.
      sanitizeOps: false,
      sanitizeResources: false,
      fn: () => withMemory(transport, run),
    });
  }
}

Deno.test({
  name: "the embedded memory service serves nobody without its credential",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const { driver } = await (shared ??= embeddedDatabase());
    const { log } = new UpstreamBench();
    const service = createMemoryService({
      sql: () => Promise.resolve(driver),
      token: TOKEN,
      log,
    });
    const ask = async (headers: HeadersInit, path = "/v1/audit") =>
      (await service(new Request(`http://x${path}`, { headers }))).status;
    assert.equal(await ask({}), 401);
    assert.equal(await ask({ authorization: "Bearer other" }), 401);
    const authorization = `Bearer ${TOKEN}`;
    assert.equal(await ask({ authorization }), 422, "a tenant must be named");
    assert.equal(await ask({ authorization }, "/v1/other"), 404);
    const tenant = `tenant_id=${crypto.randomUUID()}`;
    for (
      const bad of [
        "limit=0x",
        "limit=501",
        "limit=-1",
        "since_seq=1e99",
        "tenant_id=' or 1=1",
      ]
    ) {
      const query = bad.startsWith("tenant_id") ? bad : `${tenant}&${bad}`;
      assert.equal(
        await ask({ authorization }, `/v1/audit?${query}`),
        422,
        bad,
      );
    }
    assert.equal(await ask({ authorization }, `/v1/audit?${tenant}`), 200);
    assert.equal(
      await ask({ authorization }, `/v1/audit/verify?${tenant}`),
      200,
    );
  },
});
