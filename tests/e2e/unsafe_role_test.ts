/** D8: an operator's server does not start on a role that no policy binds. */
import assert from "node:assert/strict";
import { installFakeCuo } from "../support/fake_cuo/install.ts";
import { postgresTest } from "../support/postgres.ts";
import { runBridge } from "./bridge_process.ts";
import { startHttpBridge, startServices } from "./installation.ts";

postgresTest(
  "D8 over http the bridge refuses to start as a superuser, and starts as its own role",
  async (database) => {
    await using services = await startServices();
    const cuo = await installFakeCuo();
    try {
      const { code, stderr } = await runBridge([
        "--transport=http",
        "--listen=127.0.0.1:0",
        `--auth-issuer=${services.issuer}`,
        `--memory-endpoint=${services.url}`,
        `--cuo=${cuo.program}`,
        `--database-url=${database.ownerUrl}`,
      ], { env: { CYBEROS_ROOT: cuo.root } });
      assert.equal(code, 2, stderr);
      assert.match(stderr, /superuser[\s\S]*grant cyberos_bridge/);
      assert.doesNotMatch(stderr, /postgres:\/\//);
      await using bridge = await startHttpBridge(services, database, cuo);
      assert.match(bridge.url, /^http:/, "the control");
    } finally {
      await cuo.remove();
    }
  },
);
