/** Tasks end to end: a bridge process, PostgreSQL, a CUO child. */
import assert from "node:assert/strict";
import {
  installFakeCuo,
  isRunning,
  SCRIPT,
} from "../support/fake_cuo/install.ts";
import { postgresTest } from "../support/postgres.ts";
import { TENANT_A, TENANT_B } from "../support/tokens.ts";
import {
  ended,
  startHttpBridge,
  startServices,
  withInstallation,
} from "./installation.ts";

const ADR = {
  persona: "chief-technology-officer",
  workflow: "adr-quick-capture",
  inputs: { decision_context: "test" },
};
const EXECUTE = "cyberos.cuo.execute_workflow";

postgresTest(
  "P2-AC04 P2-AC05 execute_workflow answers with a running task, which tasks/get sees completed",
  (database) =>
    withInstallation(database, async ({ services, bridge }) => {
      const token = await services.token();
      // The first call opens the pool; the promise is about a bridge at work.
      await bridge.call(token, EXECUTE, ADR);
      const began = performance.now();
      const { result } = await bridge.call(token, EXECUTE, ADR);
      const took = performance.now() - began;
      const body = JSON.parse(result.content[0].text);
      assert.equal(body.status, "running");
      assert.deepEqual(result.structuredContent.task_id, body.task_id);
      assert.ok(
        took < 1000,
        `${took} ms on a machine that runs other tests too`,
      );
      const task = await ended(bridge, token, body.task_id);
      assert.equal(task.status, "completed", JSON.stringify(task));
      assert.equal(task.task_id, body.task_id);
      assert.equal(task.output.steps_executed, 2);
      assert.ok(task.duration_ms >= 0);
      const rows = services.rows.filter((row) => row.kind === "plugin.invoked");
      for (let n = 0; n < 40 && rows.length === 0; n++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        rows.push(
          ...services.rows.filter((row) => row.kind === "plugin.invoked"),
        );
      }
      assert.equal(rows[0]?.tenant_id, TENANT_A);
      assert.doesNotMatch(JSON.stringify(rows), /decision_context/);
    }),
);

postgresTest(
  "P2-AC06 tasks/cancel ends the CUO child and marks the task cancelled",
  (database) =>
    withInstallation(database, async ({ services, cuo, bridge }) => {
      cuo.script({
        ...SCRIPT,
        rules: [{ method: "execute_workflow", hang: true }],
      });
      const token = await services.token();
      const { result } = await bridge.call(token, EXECUTE, ADR);
      const taskId = result.structuredContent.task_id;
      const pid = await runPid(cuo.journal);
      assert.ok(
        isRunning(pid),
        "the control: the child runs before the cancel",
      );
      const { body } = await bridge.post(token, {
        jsonrpc: "2.0",
        id: 9,
        method: "tasks/cancel",
        params: { id: taskId },
      });
      assert.equal(body.result?.status, "cancelled", JSON.stringify(body));
      assert.equal(
        isRunning(pid),
        false,
        "the child is gone when the answer comes",
      );
      assert.equal((await ended(bridge, token, taskId)).status, "cancelled");
    }),
);

postgresTest(
  "P2-AC07 a task started on one instance is read, and cancelled, on another after the first is gone",
  async (database) => {
    await using services = await startServices();
    const cuo = await installFakeCuo();
    try {
      const first = await startHttpBridge(services, database, cuo);
      await using second = await startHttpBridge(services, database, cuo);
      const token = await services.token();
      const { result } = await first.call(token, EXECUTE, ADR);
      const taskId = result.structuredContent.task_id;
      assert.equal((await ended(second, token, taskId)).status, "completed");
      cuo.script({
        ...SCRIPT,
        rules: [{ method: "execute_workflow", hang: true }],
      });
      const running =
        (await first.call(token, EXECUTE, ADR)).result.structuredContent
          .task_id;
      const { body } = await second.post(token, {
        jsonrpc: "2.0",
        id: 1,
        method: "tasks/cancel",
        params: { id: running },
      });
      assert.equal(body.result?.status, "cancelled", JSON.stringify(body));
      await first.stop("SIGKILL");
      assert.equal((await ended(second, token, taskId)).status, "completed");
    } finally {
      await cuo.remove();
    }
  },
);

postgresTest(
  "P2-AC08 P2-FM09 another tenant, or another subject, does not see the task",
  (database) =>
    withInstallation(database, async ({ services, bridge }) => {
      const owner = await services.token();
      const { result } = await bridge.call(owner, EXECUTE, ADR);
      const taskId = result.structuredContent.task_id;
      for (
        const stranger of [
          await services.token({ tenantId: TENANT_B }),
          await services.token({ subject: "user-2" }),
        ]
      ) {
        for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
          const { body } = await bridge.post(stranger, {
            jsonrpc: "2.0",
            id: 1,
            method,
            params: { id: taskId, taskId },
          });
          assert.equal(body.error?.data.class, "input_validation", method);
          assert.doesNotMatch(JSON.stringify(body), new RegExp(TENANT_A));
        }
      }
      assert.equal((await ended(bridge, owner, taskId)).status, "completed");
    }),
);

postgresTest(
  "P2-AC16 each call is judged by its own token, on one connection too",
  (database) =>
    withInstallation(database, async ({ services, bridge }) => {
      const a = await services.token();
      const b = await services.token({ tenantId: TENANT_B });
      await bridge.call(a, EXECUTE, ADR);
      const list = { jsonrpc: "2.0", id: 1, method: "tasks/list", params: {} };
      assert.equal((await bridge.post(a, list)).body.result.tasks.length, 1);
      assert.equal((await bridge.post(b, list)).body.result.tasks.length, 0);
      assert.equal((await bridge.post("not-a-token", list)).status, 401);
      assert.equal((await bridge.post(a, list)).body.result.tasks.length, 1);
    }),
);

postgresTest(
  "P2-AC17 P2-FM10 a run over its timeout fails, its child gone, with a hint",
  (database) =>
    withInstallation(database, async ({ services, cuo, bridge }) => {
      cuo.script({
        ...SCRIPT,
        rules: [{ method: "execute_workflow", hang: true }],
      });
      const token = await services.token();
      const { result } = await bridge.call(token, EXECUTE, {
        ...ADR,
        timeout_seconds: 1,
      });
      const task = await ended(bridge, token, result.structuredContent.task_id);
      assert.equal(task.status, "failed");
      assert.equal(
        task.error.data?.class ?? task.error.class,
        "internal_error",
      );
      assert.match(JSON.stringify(task.error), /timeout_seconds/);
      assert.equal(isRunning(await runPid(cuo.journal)), false);
    }),
);

postgresTest(
  "P2-FM03 a CUO child that crashes fails its task, and the next call has a fresh one",
  (database) =>
    withInstallation(database, async ({ services, cuo, bridge }) => {
      cuo.script({
        ...SCRIPT,
        rules: [{ method: "execute_workflow", exit: 3 }],
      });
      const token = await services.token();
      const first = await bridge.call(token, EXECUTE, ADR);
      const failed = await ended(
        bridge,
        token,
        first.result.structuredContent.task_id,
      );
      assert.equal(failed.status, "failed");
      assert.match(JSON.stringify(failed.error), /upstream_unavailable/);
      cuo.script(SCRIPT);
      const next = await bridge.call(token, EXECUTE, ADR);
      const task = await ended(
        bridge,
        token,
        next.result.structuredContent.task_id,
      );
      assert.equal(task.status, "completed");
    }),
);

postgresTest(
  "P2-AC11 P2-AC22 memory that fails is upstream_unavailable, and nothing of its answer leaks",
  (database) =>
    withInstallation(database, async ({ services, bridge }) => {
      const token = await services.token();
      services.memoryStatus = 500;
      services.memoryBody = "row 4827: hunter2 SELECT * FROM audit";
      const { error } = await bridge.call(
        token,
        "cyberos.memory.read_audit",
        {},
      );
      assert.equal(error?.code, -32001);
      assert.equal(error?.data.class, "upstream_unavailable");
      assert.match(error?.data.trace_id, /^[0-9a-f]{32}$/);
      assert.doesNotMatch(JSON.stringify(error), /hunter2|4827|SELECT/);
      services.memoryStatus = 0;
      const { result } = await bridge.call(
        token,
        "cyberos.memory.read_audit",
        {},
      );
      assert.deepEqual(result.structuredContent.rows, []);
    }),
);

postgresTest(
  "the idempotency key starts one child for many identical calls",
  (database) =>
    withInstallation(database, async ({ services, cuo, bridge }) => {
      const token = await services.token();
      const call = () =>
        bridge.call(token, EXECUTE, {
          ...ADR,
          idempotency_key: "once",
          wait_seconds: 10,
        });
      const answers = await Promise.all(Array.from({ length: 20 }, call));
      const ids = new Set(
        answers.map(({ result }) => result.structuredContent.task_id),
      );
      assert.equal(ids.size, 1);
      const runs = cuo.journal().filter(({ event, message }) =>
        event === "message" &&
        JSON.stringify(message).includes("execute_workflow")
      );
      assert.equal(runs.length, 1, JSON.stringify(runs));
      assert.ok(
        answers.every(({ result }) =>
          result.structuredContent.status === "completed"
        ),
      );
    }),
);

postgresTest(
  "STD-23 P2-AC06 a cancel ends the grandchildren that a careless CUO leaves behind",
  (database) =>
    withInstallation(database, async ({ services, cuo, bridge }) => {
      const note = `${cuo.root}/grandchild`;
      cuo.shell(
        `nohup sleep 600 >/dev/null 2>&1 & echo $! > "${note}"; trap "" TERM; while :; do sleep 1; done`,
      );
      const token = await services.token();
      const { result } = await bridge.call(token, EXECUTE, ADR);
      const taskId = result.structuredContent.task_id;
      const grandchild = await numberIn(note);
      assert.ok(
        isRunning(grandchild),
        "the control: it runs before the cancel",
      );
      await bridge.post(token, {
        jsonrpc: "2.0",
        id: 1,
        method: "tasks/cancel",
        params: { id: taskId },
      });
      for (let n = 0; n < 200 && isRunning(grandchild); n++) {
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      assert.equal(isRunning(grandchild), false);
    }, ["--cuo-protocol=jsonrpc"]),
);

async function numberIn(path: string): Promise<number> {
  for (let n = 0; n < 200; n++) {
    const text = await Deno.readTextFile(path).catch(() => "");
    if (text.trim() !== "") return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Nothing in ${path}`);
}

/** The process that runs the workflow, once it has noted so. */
async function runPid(
  journal: () => readonly {
    readonly pid: number;
    readonly event: string;
    method?: string;
  }[],
): Promise<number> {
  for (let n = 0; n < 200; n++) {
    const entry = journal().findLast((one) =>
      JSON.stringify(one).includes("execute_workflow")
    );
    if (entry !== undefined) return entry.pid;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("No child ran the workflow");
}
