/** PostgreSQL that goes away, falls silent, hangs up, and comes back. */
import assert from "node:assert/strict";
import { BridgeError } from "../../../bridge/errors.ts";
import type { SqlDriver } from "../../../bridge/ports.ts";
import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import {
  postgresPrograms,
  postgresTest,
  WITHOUT_POSTGRES,
} from "../../support/postgres.ts";
import { startCluster } from "../../support/postgres_cluster.ts";
import { startProxy, type TcpProxy } from "../../support/tcp_proxy.ts";
import { eventually } from "./fixtures.ts";

const CONNECT_MS = 400;
const STATEMENT_MS = 700;

function open(port: number, database: string, user = "postgres"): SqlDriver {
  return createPostgresDriver({
    url: `postgres://${user}@127.0.0.1:${port}/${database}`,
    logger: new FakeLogger(),
    poolSize: 3,
    connectTimeoutMs: CONNECT_MS,
    statementTimeoutMs: STATEMENT_MS,
  });
}

/** What a call came to, and that it came to it in time. */
async function outcome(driver: SqlDriver, sql = "select 1"): Promise<string> {
  const startedAt = performance.now();
  try {
    await driver.query(sql, []);
    return "ok";
  } catch (error) {
    return error instanceof BridgeError ? error.code : String(error);
  } finally {
    const took = performance.now() - startedAt;
    assert.ok(took < STATEMENT_MS + 1000, `took ${took} ms`);
  }
}

async function comesBack(driver: SqlDriver): Promise<void> {
  await eventually(async () => await outcome(driver) === "ok", 8000);
}

Deno.test({
  name:
    "P2-FM05 PostgreSQL stops and starts: calls fail cleanly meanwhile, and work again without a restart",
  ignore: WITHOUT_POSTGRES,
  async fn() {
    const server = await startCluster(postgresPrograms());
    const driver = open(server.port, "postgres");
    const heard: string[] = [];
    let readies = 0;
    await driver.listen("ch", (text) => heard.push(text), () => readies++);
    const seen = new Set<string>();
    let stop = false;
    const load = Array.from({ length: 6 }, async () => {
      while (!stop) {
        seen.add(await outcome(driver));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    try {
      for (const mode of ["fast", "immediate"] as const) {
        const before = readies;
        await eventually(() => readies > 0);
        await server.stop(mode);
        assert.equal(await outcome(driver), "STORE_UNAVAILABLE");
        await server.start();
        await comesBack(driver);
        // LISTEN is established again by itself.
        await eventually(() => readies > before, 8000);
      }
      assert.deepEqual([...seen].sort(), ["STORE_UNAVAILABLE", "ok"]);
      await eventually(async () => {
        await outcome(driver, "select pg_notify('ch', 'again')");
        return heard.includes("again");
      }, 8000);
    } finally {
      stop = true;
      await Promise.all(load);
      await driver.close();
      await server.dispose();
    }
  },
});

function proxied(
  name: string,
  run: (proxy: TcpProxy, driver: SqlDriver) => Promise<void>,
): void {
  postgresTest(name, async (database) => {
    const { port } = new URL(database.bridgeUrl);
    const proxy = startProxy(Number(port));
    const driver = open(proxy.port, database.name, "bridge_login");
    try {
      await run(proxy, driver);
    } finally {
      await driver.close();
      await proxy.close();
    }
  });
}

proxied(
  "DB-07 a peer that falls silent at the start",
  async (proxy, driver) => {
    proxy.mode = "silent";
    assert.equal(await outcome(driver), "STORE_UNAVAILABLE");
    assert.equal(await outcome(driver), "STORE_UNAVAILABLE");
    proxy.mode = "forward";
    await comesBack(driver);
  },
);

proxied(
  "DB-07 a peer that hangs up after accepting, and no storm against it",
  async (proxy, driver) => {
    assert.equal(await outcome(driver), "ok", "control");
    proxy.mode = "accept-and-close";
    proxy.cut();
    const before = proxy.accepted;
    const until = performance.now() + 1500;
    while (performance.now() < until) {
      await Promise.all(
        Array.from(
          { length: 10 },
          async () => assert.notEqual(await outcome(driver), "hang"),
        ),
      );
    }
    const attempts = proxy.accepted - before;
    assert.ok(attempts < 30, `${attempts} connections in 1.5 s`);
    proxy.mode = "forward";
    await comesBack(driver);
  },
);

proxied(
  "DB-07 a connection cut in the middle of a statement",
  async (proxy, driver) => {
    assert.equal(await outcome(driver), "ok", "control");
    const asleep = outcome(driver, "select pg_sleep(30)");
    await new Promise((resolve) => setTimeout(resolve, 50));
    proxy.cut();
    assert.equal(await asleep, "STORE_UNAVAILABLE");
    await comesBack(driver);
  },
);

proxied(
  "DB-07 a statement that never ends, and those that wait behind it",
  async (proxy, driver) => {
    assert.equal(await outcome(driver), "ok", "control");
    const startedAt = performance.now();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => outcome(driver, "select pg_sleep(30)")),
    );
    assert.deepEqual([...new Set(outcomes)], ["STORE_UNAVAILABLE"]);
    assert.ok(performance.now() - startedAt < STATEMENT_MS + 500);
    assert.equal(await outcome(driver), "ok", "no connection is stuck");
    assert.ok(proxy.accepted >= 4, "they were left");
  },
);

proxied(
  "DB-07 closing does not wait for what is stuck",
  async (proxy, driver) => {
    assert.equal(await outcome(driver), "ok", "control");
    await driver.listen("ch", () => {});
    const asleep = outcome(driver, "select pg_sleep(30)");
    await new Promise((resolve) => setTimeout(resolve, 50));
    proxy.cut();
    const startedAt = performance.now();
    await driver.close();
    assert.ok(performance.now() - startedAt < 3000);
    assert.equal(await asleep, "STORE_UNAVAILABLE");
    assert.equal(await outcome(driver), "STORE_UNAVAILABLE", "closed");
  },
);

postgresTest(
  "DB-06 what a call had in flight when its connection died is not carried to another",
  async (database) => {
    const driver = createPostgresDriver({
      url: database.bridgeUrl,
      logger: new FakeLogger(),
      poolSize: 1,
    });
    try {
      const a = crypto.randomUUID();
      // A's statement sets its tenant, and its backend dies while it runs.
      const late = driver.query(
        "select set_config('auth.tenant_id', $1, true), pg_sleep(3), count(*) from plugin_host.tasks",
        [a],
      );
      const queued = driver.query(
        "select coalesce(current_setting('auth.tenant_id', true), '') as tenant",
        [],
      );
      late.catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 100));
      await database.admin(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'bridge_login'",
      );
      await assert.rejects(
        late,
        (error: BridgeError) => error.code === "STORE_UNAVAILABLE",
      );
      assert.deepEqual([...await queued], [{ tenant: "" }]);
    } finally {
      await driver.close();
    }
  },
);

Deno.test("DB-06 what speaks SQL never opens a transaction, and sets no tenant beyond one", async () => {
  const offenders: string[] = [];
  let read = 0;
  for (const room of ["store", "upstream"]) {
    const dir = new URL(`../../../bridge/${room}/`, import.meta.url);
    for await (const [name, text] of sources(dir)) {
      read++;
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      if (
        /\.(begin|reserve|savepoint)\s*\(/.test(code) ||
        /set_config\([^)]*,\s*false\s*\)|set\s+session/i.test(code)
      ) offenders.push(`${room}/${name}`);
    }
  }
  assert.ok(read > 10, "the test reads nothing");
  assert.deepEqual(offenders, []);
});

async function* sources(
  dir: URL,
  prefix = "",
): AsyncGenerator<readonly [string, string]> {
  for await (const entry of Deno.readDir(dir)) {
    const url = new URL(
      entry.isDirectory ? `${entry.name}/` : entry.name,
      dir,
    );
    if (entry.isDirectory) yield* sources(url, `${prefix}${entry.name}/`);
    else if (entry.name.endsWith(".ts")) {
      yield [prefix + entry.name, await Deno.readTextFile(url)];
    }
  }
}
