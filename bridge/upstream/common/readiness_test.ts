import assert from "node:assert/strict";
import { BridgeError } from "../../errors.ts";
import type { DependencyStatus } from "../../types.ts";
import { Readiness } from "./readiness.ts";

const signal = () => new AbortController().signal;
const OK: DependencyStatus = { name: "x", state: "ok" };

function readiness(probe: (signal: AbortSignal) => Promise<DependencyStatus>) {
  let probes = 0;
  const made = new Readiness({
    name: "x",
    freshMs: 60_000,
    timeoutMs: 100,
    probe: (signal) => {
      probes++;
      return probe(signal);
    },
  });
  return { readiness: made, probes: () => probes };
}

Deno.test("Readiness asks once for many, and again after a doubt", async () => {
  const bench = readiness(() => Promise.resolve(OK));
  await Promise.all([1, 2, 3].map(() => bench.readiness.status(signal())));
  assert.deepEqual(await bench.readiness.status(signal()), OK);
  assert.equal(bench.probes(), 1);
  bench.readiness.doubt();
  await bench.readiness.status(signal());
  assert.equal(bench.probes(), 2);
});

Deno.test("Readiness shows a refusal's message and nothing of a bug", async () => {
  const refused = readiness(() =>
    Promise.reject(new BridgeError("UPSTREAM_UNAVAILABLE", "X is away"))
  );
  assert.deepEqual(await refused.readiness.status(signal()), {
    name: "x",
    state: "down",
    detail: "X is away",
  });
  const bug = readiness(() => Promise.reject(new Error("/secret/path")));
  assert.equal((await bug.readiness.status(signal())).detail, "failed");
});

Deno.test("Readiness lets nobody wait longer than they want, and ends a probe that hangs", async () => {
  let ended = false;
  const bench = readiness((signal) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        ended = true;
        reject(signal.reason);
      })
    )
  );
  const impatient = await bench.readiness.status(AbortSignal.abort());
  assert.equal(impatient.state, "down");
  const patient = await bench.readiness.status(signal());
  assert.equal(patient.state, "down");
  assert.ok(ended);
});
