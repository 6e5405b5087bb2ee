import assert from "node:assert/strict";
import { loadConfig } from "../../../bridge/config/load.ts";
import {
  configurationPage,
  settingsHelp,
} from "../../../bridge/config/help.ts";
import { SETTINGS } from "../../../bridge/config/settings.ts";

interface Given {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

function load(given: Given) {
  return loadConfig({
    args: given.args ?? [],
    env: (name) => given.env?.[name],
    readTextFile: (path) => {
      const text = given.files?.[path];
      if (text === undefined) throw new Deno.errors.NotFound(path);
      return text;
    },
  });
}

Deno.test("loadConfig() gives CyberOS's public defaults when nothing is set", () => {
  const { config, problems, given } = load({});
  assert.deepEqual(problems, []);
  assert.equal(given.size, 0);
  assert.equal(config.transport, "stdio");
  assert.deepEqual(config.listen, { hostname: "127.0.0.1", port: 8082 });
  assert.equal(config.authIssuer, "https://auth.cyberskill.world");
  assert.equal(config.memoryEndpoint, "https://memory.cyberskill.world");
  assert.equal(config.databaseUrl, undefined);
  assert.equal(config.embedded, false);
});

Deno.test("loadConfig() lets flags win over the environment, and it over the file", () => {
  const files = {
    "c.json": `{"task-lease-seconds": 30, "plugin-id": "f", "embedded": true}`,
  };
  const all = load({
    args: ["--task-lease-seconds=10", "--config", "c.json"],
    env: { CYBEROS_TASK_LEASE_SECONDS: "20", CYBEROS_PLUGIN_ID: "e" },
    files,
  });
  assert.deepEqual(all.problems, []);
  assert.equal(all.config.taskLeaseSeconds, 10);
  assert.equal(all.config.pluginId, "e");
  assert.equal(all.config.embedded, true);
  const byEnv = load({
    env: { CYBEROS_CONFIG: "c.json", CYBEROS_PLUGIN_ID: "" },
    files,
  });
  assert.equal(byEnv.config.taskLeaseSeconds, 30);
  assert.equal(byEnv.config.pluginId, "f");
});

Deno.test("loadConfig() adds up repeated origins and reads lists of the file", () => {
  const { config, problems } = load({
    args: [
      "--cors-origin",
      "https://a.example",
      "--cors-origin=https://*.b.example",
    ],
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(config.corsOrigins, [
    "https://a.example",
    "https://*.b.example",
  ]);
  const file = load({
    args: ["--config=c"],
    files: {
      c: `{"cors-origin": ["https://a.example"], "jwt-algorithms": "RS256,ES256"}`,
    },
  });
  assert.deepEqual(file.config.corsOrigins, ["https://a.example"]);
  assert.deepEqual(file.config.jwtAlgorithms, ["RS256", "ES256"]);
});

Deno.test("loadConfig() names every wrong value at once, its place and what it wants", () => {
  const { problems, config } = load({
    args: [
      "--listen",
      "8082",
      "--nope",
      "x",
      "--transport",
      "pipe",
      "--clock-skew-seconds",
    ],
    env: {
      CYBEROS_JWT_ALGORITHMS: "HS256",
      MEMORY_ENDPOINT: "http://memory.example",
    },
  });
  const names = problems.map((problem) => problem.name);
  for (
    const name of ["--listen", "--nope", "--transport", "--clock-skew-seconds"]
  ) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(
    names.includes("CYBEROS_JWT_ALGORITHMS") &&
      names.includes("MEMORY_ENDPOINT"),
  );
  assert.deepEqual(config.jwtAlgorithms, ["RS256"]);
});

Deno.test("loadConfig() never repeats a secret, whatever is wrong with it", () => {
  const { problems } = load({
    env: { CYBEROS_DATABASE_URL: "hunter2" },
    args: [
      "--owner-database-url=hunter2",
      "--databse-url=postgres://u:hunter2@h/db",
      "postgres://u:hunter2@h/db",
      "surprise",
    ],
  });
  assert.deepEqual(problems.map(({ name }) => name), [
    "--databse-url",
    "argument 3",
    "surprise",
    "CYBEROS_DATABASE_URL",
    "--owner-database-url",
  ]);
  assert.doesNotMatch(JSON.stringify(problems), /hunter2/);
});

Deno.test("loadConfig() refuses what cannot be safe", () => {
  const bad: readonly (readonly [string, string])[] = [
    ["--cors-origin", "*"],
    ["--cors-origin", "null"],
    ["--cors-origin", "https://*"],
    ["--cors-origin", "https://*.com"],
    ["--cors-origin", "https://a.example/"],
    ["--cors-origin", "http://*.a.example"],
    ["--clock-skew-seconds", "600"],
    ["--jwt-algorithms", "none"],
    ["--auth-issuer", "http://issuer.example"],
    ["--memory-endpoint", "https://user:pw@m.example"],
    ["--memory-endpoint", "https://m.example/?x=1"],
    ["--listen", "127.0.0.1:70000"],
    ["--database-url", "mysql://x"],
    ["--database-url", "postgres://localhost/db"],
    ["--database-url", "postgres://u:p%zz@h/db"],
    ["--database-url", "postgres://u@h:99999/db"],
    ["--database-url", "postgres://u@h:port/db"],
    ["--database-url", "postgres://u@/db"],
    ["--database-url", "postgres://u@h/db?sslmode=full"],
  ];
  for (const args of bad) {
    assert.equal(load({ args }).problems.length, 1, args.join(" "));
  }
  const good: readonly (readonly [string, string])[] = [
    ["--cors-origin", "http://localhost:3000"],
    ["--cors-origin", "https://*.a.example"],
    ["--auth-issuer", "http://127.0.0.1:9000/"],
    ["--listen", "[::1]:0"],
    ["--database-url", "postgresql://u@h/db"],
    ["--database-url", "postgres://u:p%40@a:1,[::1]:2,c/db?sslmode=require"],
  ];
  for (const args of good) {
    assert.deepEqual(load({ args }).problems, [], args.join(" "));
  }
  assert.equal(
    load({ args: ["--auth-issuer", "http://127.0.0.1:9000/"] }).config
      .authIssuer,
    "http://127.0.0.1:9000/",
  );
});

Deno.test("P2-AC21 loadConfig() listens beyond loopback only when told, and never embedded", () => {
  const open = load({ args: ["--transport=http", "--listen=0.0.0.0:8082"] });
  assert.deepEqual(open.problems, []);
  assert.equal(open.config.listen.hostname, "0.0.0.0");
  const embedded = load({
    args: ["--embedded", "--transport=http", "--listen=0.0.0.0:8082"],
  });
  assert.deepEqual(embedded.problems.map((problem) => problem.name), [
    "--embedded",
  ]);
  const loopback = load({
    args: ["--embedded", "--transport=http", "--listen=127.0.0.1:0"],
  });
  assert.deepEqual(loopback.problems, []);
});

Deno.test("loadConfig() names contradictions and unreadable files", () => {
  assert.equal(
    load({ args: ["--ephemeral"] }).problems[0]?.name,
    "--ephemeral",
  );
  assert.equal(
    load({ args: ["--embedded", "--ephemeral", "--data-dir=d"] }).problems
      .length,
    1,
  );
  assert.equal(
    load({ args: ["--config=absent"] }).problems[0]?.name,
    "--config",
  );
  for (const text of ["[]", "{", `{"nope":1}`, `{"listen":{}}`, "null"]) {
    assert.equal(
      load({ args: ["--config=c"], files: { c: text } }).problems.length,
      1,
      text,
    );
  }
});

Deno.test("the help text and the page name every setting", () => {
  const help = settingsHelp();
  const page = configurationPage();
  for (const setting of Object.values(SETTINGS)) {
    for (
      const name of [setting.flag, setting.env].filter((text) =>
        text !== undefined
      )
    ) {
      assert.ok(help.includes(name), name);
      assert.ok(page.includes(name), name);
    }
  }
});

Deno.test("docs/configuration.md is the generated page", async () => {
  const path = new URL("../../../docs/configuration.md", import.meta.url);
  assert.equal(await Deno.readTextFile(path), configurationPage());
});
