import assert from "node:assert/strict";
import { createLocalDriver } from "../../../bridge/store/local_database.ts";
import { openPglite } from "../../../bridge/store/pglite.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { type ContractOptions, storeContract } from "./contract.ts";
import { policiesContract } from "./policies_contract.ts";

const driver = createLocalDriver({
  open: () => openPglite(),
  logger: new FakeLogger(),
});

// One database for the whole file: opening one is the slow part. The suites
// use tenants of their own.
const options: ContractOptions = {
  name: "PGlite",
  embedded: true,
  withDriver: (run) => run(driver),
};

Deno.test.beforeAll(async () => {
  await driver.query("select 1", []);
});
Deno.test.afterAll(() => driver.close());

storeContract({ ...options, name: "task store on PGlite" });
policiesContract({ ...options, name: "policies on PGlite" });

Deno.test("DB-08 PGlite works as the bridge's role, whom policies bind, not as its superuser", async () => {
  const [row] = await driver.query(
    `select current_user::text as who, rolsuper, rolbypassrls,
       row_security_active('plugin_host.tasks') as bound
     from pg_roles where rolname = current_user`,
    [],
  );
  assert.deepEqual(row, {
    who: "cyberos_bridge",
    rolsuper: false,
    rolbypassrls: false,
    bound: true,
  });
});
