/** What the bridge's role can do with bare SQL, on every driver: nothing beyond its tenant. */
import assert from "node:assert/strict";
import { sqlCodeOf } from "../../../bridge/store/sql_error.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import type { ContractOptions } from "./contract.ts";
import { newOwner, newTask, WIDE } from "./fixtures.ts";

const DENIED = "42501";

/** Registers the suite. */
export function policiesContract(options: ContractOptions): void {
  const test = (name: string, run: (bench: Bench) => Promise<void>): void =>
    Deno.test({
      name: `${options.name}: ${name}`,
      ignore: options.ignore ?? false,
      fn: () =>
        options.withDriver(async (driver) => {
          const store = createTaskStore({
            driver,
            instanceId: "i1",
            leaseMs: 15_000,
            pluginId: "cyberos",
            embedded: options.embedded ?? false,
          });
          const owners = [newOwner(), newOwner()] as const;
          const tasks = owners.map((owner) => newTask({ owner }));
          for (const task of tasks) await store.create(task, WIDE);
          const attempt = async (sql: string): Promise<string> => {
            try {
              await driver.query(sql, []);
              return "ok";
            } catch (error) {
              return sqlCodeOf(error) ?? String(error);
            }
          };
          await run({
            a: owners[0].tenantId,
            b: owners[1].tenantId,
            taskOfA: tasks[0]?.taskId as string,
            taskOfB: tasks[1]?.taskId as string,
            attempt,
            as: (tenant, body) =>
              attempt(
                `do $$ declare n bigint; begin ${
                  tenant === null
                    ? ""
                    : `perform set_config('auth.tenant_id', '${tenant}', true);`
                } ${body} end $$`,
              ),
          });
        }),
    });

  test("DB-04 without a tenant nothing is seen or written", async ({ as, a, taskOfA }) => {
    const nobody = [null, "", "garbage", `${a}x`, crypto.randomUUID()];
    for (const tenant of nobody) {
      assert.equal(await as(tenant, expectCount("plugin_host.tasks", 0)), "ok");
      assert.equal(
        await as(
          tenant,
          `${changed("update plugin_host.tasks set progress = '{}'")}`,
        ),
        "ok",
        "an update finds nothing",
      );
      assert.equal(
        await as(tenant, `${changed("delete from plugin_host.tasks")}`),
        "ok",
        "a delete finds nothing",
      );
      assert.equal(await as(tenant, insertTask(a, "t-")), DENIED);
      assert.equal(
        await as(
          tenant,
          `insert into plugin_host.task_tenants values ('${a}', now());`,
        ),
        DENIED,
      );
    }
    assert.equal(
      await as(
        a,
        expectCount(`plugin_host.tasks where task_id = '${taskOfA}'`, 1),
      ),
      "ok",
      "and with its own tenant the row is there",
    );
    assert.equal(await as(a, insertTask(a, "t-")), "ok");
  });

  test("DB-05 no row gets into, out of, or over to another tenant", async ({ as, attempt, a, b, taskOfA, taskOfB }) => {
    assert.equal(await as(a, insertTask(b, "t-")), DENIED);
    assert.equal(
      await as(
        a,
        `update plugin_host.tasks set tenant_id = '${b}' where task_id = '${taskOfA}';`,
      ),
      DENIED,
    );
    // Both the grant and the policy stand in the way: the grant alone is taken out of it here.
    assert.equal(
      await as(
        a,
        changed(
          `update plugin_host.tasks set progress = '{"step":1}' where task_id = '${taskOfB}'`,
        ),
      ),
      "ok",
    );
    assert.equal(
      await as(
        a,
        `${
          insertTask(a, taskOfB).slice(0, -1)
        } on conflict (task_id) do update set progress = '{}';`,
      ),
      DENIED,
    );
    const plain = await as(a, insertTask(a, taskOfB));
    const own = await as(a, insertTask(a, taskOfA));
    assert.equal(plain, own, "a foreign id is no different from an own one");
    assert.equal(
      await as(
        a,
        `update plugin_host.task_tenants set next_due_at = now() where tenant_id = '${b}'; get diagnostics n = row_count; if n <> 0 then raise exception 'changed'; end if;`,
      ),
      "ok",
    );
    assert.equal(
      await as(
        b,
        expectCount(`plugin_host.tasks where progress is not null`, 0),
      ),
      "ok",
    );
    assert.equal(
      await attempt(
        "create view plugin_host.peek as select * from plugin_host.tasks",
      ),
      DENIED,
    );
  });

  test("DB-05 no function of ours runs as its definer", async ({ attempt }) => {
    assert.equal(
      await attempt(
        "do $$ begin if exists (select from pg_proc where prosecdef and pronamespace = 'plugin_host'::regnamespace) then raise exception 'definer'; end if; end $$",
      ),
      "ok",
    );
  });

  test("the bridge's role cannot loosen, empty or leave anything", async ({ attempt, as, a, taskOfA }) => {
    for (
      const sql of [
        "alter table plugin_host.tasks disable row level security",
        "alter table plugin_host.tasks no force row level security",
        "drop policy tasks_rls on plugin_host.tasks",
        "truncate plugin_host.tasks",
        "drop table plugin_host.tasks",
        "create table plugin_host.mine ()",
        "create function plugin_host.mine() returns int language sql as 'select 1'",
        "update plugin_host.settings set cursor_key = 'x'",
        "insert into plugin_host.migrations values (99, 'x', 'x')",
        "delete from plugin_host.migrations",
        "delete from plugin_host.task_tenants",
        "alter table plugin_host.tasks disable trigger tasks_end_once",
      ]
    ) assert.equal(await attempt(sql), DENIED, sql);
    assert.equal(
      await as(
        a,
        changed(`delete from plugin_host.tasks where task_id = '${taskOfA}'`),
      ),
      "ok",
      "not even its own running row",
    );
  });

  test("TASK-01 the table itself refuses to change what has ended", async ({ as, a, taskOfA }) => {
    const where = `where task_id = '${taskOfA}'`;
    const end =
      `update plugin_host.tasks set status = 'completed', completed_at = now() ${where};`;
    assert.equal(await as(a, end), "ok");
    for (
      const change of [
        "status = 'running', completed_at = null",
        "status = 'cancelled'",
        "output = '{}'",
        "error = '{}'",
        "updated_at = now() + interval '1 s'",
      ]
    ) {
      assert.equal(
        await as(a, `update plugin_host.tasks set ${change} ${where};`),
        "23000",
        change,
      );
    }
    assert.equal(
      await as(a, `update plugin_host.tasks set lease_owner = null ${where};`),
      "ok",
      "letting go of it is no change",
    );
  });
}

interface Bench {
  readonly a: string;
  readonly b: string;
  readonly taskOfA: string;
  readonly taskOfB: string;
  /** SQLSTATE, or "ok". */
  attempt(sql: string): Promise<string>;
  /** A block of statements under a tenant (null: never set), with a variable n. */
  as(tenant: string | null, body: string): Promise<string>;
}

function expectCount(what: string, count: number): string {
  return `if (select count(*) from ${what}) <> ${count} then raise exception 'sees another number'; end if;`;
}

/** Fails if the statement changes a row. */
function changed(statement: string): string {
  return `${statement}; get diagnostics n = row_count; if n <> 0 then raise exception 'changed a row'; end if;`;
}

function insertTask(tenant: string, taskId: string): string {
  const id = taskId === "t-" ? newTask().taskId : taskId;
  return `insert into plugin_host.tasks (task_id, tenant_id, plugin_id, tool_name, status, input, timeout_at, trace_id, subject, request_hash, ttl_ms, expires_at, poll_interval_ms, lease_owner, lease_expires_at) values ('${id}', '${tenant}', 'p', 't', 'running', '{}', now(), '${
    "0".repeat(32)
  }', 's', 'h', 1, now(), 1, 'i', now());`;
}
