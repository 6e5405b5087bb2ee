/** Getting to PostgreSQL as real installations do: by password, over TLS. */
import assert from "node:assert/strict";
import type { BridgeError } from "../../../bridge/errors.ts";
import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import {
  connectAdmin,
  postgresPrograms,
  WITHOUT_POSTGRES,
} from "../../support/postgres.ts";
import { startCluster } from "../../support/postgres_cluster.ts";

async function withOpenssl(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("openssl", {
      args: ["version"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}

/** A key, a certificate for localhost, and an hba file that asks for passwords over TCP. */
async function prepareDir(): Promise<string> {
  const dir = await Deno.makeTempDir({ prefix: "cyberos-tls-" });
  const command = `
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem
    printf 'local all all trust\\nhost all postgres all trust\\nhost all all all scram-sha-256\\n' >hba.conf
    if [ "$(id -u)" = 0 ]; then chown -R postgres .; chmod 755 .; fi`;
  const { success } = await new Deno.Command("sh", {
    args: ["-ec", command],
    cwd: dir,
    stdout: "null",
    stderr: "null",
  }).output();
  assert.ok(success);
  return dir;
}

Deno.test({
  name:
    "the store logs in by password and over TLS, and says what is wrong when it cannot",
  ignore: WITHOUT_POSTGRES || !await withOpenssl(),
  async fn() {
    const dir = await prepareDir();
    const server = await startCluster(postgresPrograms(), {
      settings: {
        ssl: "on",
        ssl_cert_file: `${dir}/cert.pem`,
        ssl_key_file: `${dir}/key.pem`,
        hba_file: `${dir}/hba.conf`,
      },
    });
    const ask = async (login: string, query: string): Promise<unknown> => {
      const driver = createPostgresDriver({
        url: `postgres://${login}@localhost:${server.port}/postgres${query}`,
        logger: new FakeLogger(),
        connectTimeoutMs: 3000,
      });
      try {
        const [row] = await driver.query(
          "select ssl, current_user as who from pg_stat_ssl where pid = pg_backend_pid()",
          [],
        );
        return row;
      } catch (error) {
        const { code, hint } = error as BridgeError;
        return { code, hint };
      } finally {
        await driver.close();
      }
    };
    try {
      await using admin = connectAdmin(server.url("postgres", "postgres"));
      await admin.run("create role ann login password 'p@ss word/ü'");
      const login = `ann:${encodeURIComponent("p@ss word/ü")}`;
      assert.deepEqual(await ask(login, ""), { ssl: false, who: "ann" });
      assert.deepEqual(await ask(login, "?sslmode=require"), {
        ssl: true,
        who: "ann",
      });
      const pooler = await ask(login, "?pgbouncer=true");
      assert.deepEqual(pooler, { ssl: false, who: "ann" });
      const wrong = await ask("ann:guess", "") as BridgeError;
      assert.equal(wrong.code, "STORE_UNAVAILABLE");
      assert.match(wrong.hint, /correct the login/);
      const stranger = await ask(login, "?sslmode=verify-full") as BridgeError;
      assert.equal(stranger.code, "STORE_UNAVAILABLE");
      assert.match(stranger.hint, /certificate/);
    } finally {
      await server.dispose();
      await Deno.remove(dir, { recursive: true });
    }
  },
});
