import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { WITHOUT_POSTGRES, withPostgres } from "../../support/postgres.ts";
import { type ContractOptions, storeContract } from "./contract.ts";
import { policiesContract } from "./policies_contract.ts";

const options: ContractOptions = {
  name: "PostgreSQL",
  ignore: WITHOUT_POSTGRES,
  withDriver: (run) =>
    withPostgres(async (database) => {
      const driver = createPostgresDriver({
        url: database.bridgeUrl,
        logger: new FakeLogger(),
        poolSize: 4,
      });
      try {
        await run(driver);
      } finally {
        await driver.close();
      }
    }),
};

storeContract({ ...options, name: "task store on PostgreSQL" });
policiesContract({ ...options, name: "policies on PostgreSQL" });
