/** AUTH-10: the tenant is the verified claim, whatever else names one. */
import assert from "node:assert/strict";
import {
  CONFIRMED,
  Harness,
  principal,
  RUN,
} from "../../support/bridge_harness.ts";
import { TENANT_A, TENANT_B } from "../../support/tokens.ts";

const DISAGREEING: readonly unknown[] = [
  TENANT_B,
  [TENANT_A, TENANT_B],
  [TENANT_A],
  "",
  `{${TENANT_A}}`,
  null,
  { id: TENANT_A },
];

for (const tenant of DISAGREEING) {
  Deno.test(`AUTH-10 a call that names tenant ${JSON.stringify(tenant)} is authz_denied`, async () => {
    const harness = new Harness();
    const calls = [
      harness.tool("cyberos.memory.read_audit", { tenant_id: tenant }),
      harness.tool("cyberos.memory.read_audit", { tenantId: tenant }),
      harness.tool("cyberos.memory.read_audit", { tenant }),
      harness.tool("cyberos.memory.read_audit", {}, {
        meta: { tenant } as never,
      }),
      harness.tool("cyberos.memory.read_audit", {}, {
        meta: { tenant_id: tenant } as never,
      }),
      harness.tool("cyberos.cuo.execute_workflow", {
        ...RUN,
        inputs: { tenant_id: tenant },
      }),
      harness.tool("cyberos.memory.append_audit", {
        kind: "decision",
        body: { tenantId: tenant },
      }, { meta: CONFIRMED }),
    ];
    for (const { error } of await Promise.all(calls)) {
      assert.equal(error.code, -32000);
      assert.equal(error.data.class, "authz_denied");
    }
    assert.equal(harness.loads, 0);
  });
}

Deno.test("AUTH-10 a call that names its own tenant, in any case of letters, runs as that tenant", async () => {
  const tenantId = "abcdefab-cdef-4abc-8def-abcdefabcdef";
  const harness = new Harness();
  harness.caller = () => principal({ tenantId });
  const { result } = await harness.tool("cyberos.memory.read_audit", {}, {
    meta: { tenant: tenantId.toUpperCase() },
  });
  assert.equal(result.isError, false);
  assert.equal(harness.upstreams.calls[0]?.tenantId, tenantId);
});

Deno.test("AUTH-10 the word tenant in a workflow's inputs is nobody's claim", async () => {
  const harness = new Harness();
  const { result } = await harness.tool("cyberos.cuo.execute_workflow", {
    ...RUN,
    inputs: { tenant: "The family on the second floor" },
  });
  assert.equal(result.structuredContent.status, "running");
  await harness.tasks.idle();
});
