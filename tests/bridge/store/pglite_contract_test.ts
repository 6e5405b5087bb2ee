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
