import assert from "node:assert/strict";
import { endpointGrants } from "../../../bridge/store/local_endpoint.ts";
import { loadConfig } from "../../../bridge/config/load.ts";
import { defaultDataDir } from "../../../bridge/sandbox/data_dir.ts";
import { findProgram } from "../../../bridge/sandbox/find_program.ts";
import { prepare } from "../../../bridge/sandbox/prepare.ts";
import {
  type SandboxFacts,
  sandboxPermissions,
} from "../../../bridge/sandbox/permissions.ts";

const FACTS: SandboxFacts = {
  command: "serve",
  otelUrl: undefined,
  cuoProgram: "/usr/bin/cyberos-cuo",
  dataDir: undefined,
  workDir: "/tmp/w",
  codeDirs: [],
};

function permissions(
  args: readonly string[],
  facts: Partial<SandboxFacts> = {},
) {
  const { config, problems } = loadConfig({
    args,
    env: () => undefined,
    readTextFile: () => "{}",
  });
  assert.deepEqual(problems, []);
  return sandboxPermissions(config, { ...FACTS, ...facts });
}

Deno.test("sandboxPermissions() grants exactly what the defaults name", () => {
  assert.deepEqual(permissions([]), {
    net: ["memory.cyberskill.world:443", "auth.cyberskill.world:443"],
    run: ["/usr/bin/cyberos-cuo"],
    read: ["/tmp/w"],
    write: ["/tmp/w"],
    env: ["CYBEROS_TOKEN_FILE", "CYBEROS_ACCESS_TOKEN"],
    sys: [],
    ffi: false,
    import: false,
  });
});

Deno.test("sandboxPermissions() adds every host that the configuration names, with its port", () => {
  const { net, read, run } = permissions([
    "--transport=http",
    "--listen=[::1]:9000",
    "--database-url=postgres://u:p%40ss@db1,db2:6432,[::2]:7/x?sslmode=require",
    "--jwks-url=http://127.0.0.1:7000/keys",
    "--skill-broker-endpoint=https://skills.example/base",
    "--cuo-endpoint=https://cuo.example",
    "--skills-dir=/srv/skills",
  ], { otelUrl: "http://127.0.0.1:4318/v1/traces" });
  assert.deepEqual([...net].sort(), [
    "127.0.0.1:4318",
    "127.0.0.1:7000",
    "[::1]:9000",
    "[::2]:7",
    "cuo.example:443",
    "db1:5432",
    "db2:6432",
    "memory.cyberskill.world:443",
    "skills.example:443",
  ]);
  assert.ok(read.includes("/srv/skills"));
  assert.deepEqual(run, [], "CUO over HTTP starts no program");
});

Deno.test("sandboxPermissions() gives embedded mode its folder, the socket in it and no host at all", () => {
  const given = permissions(["--embedded"], {
    dataDir: "/d",
    cuoProgram: undefined,
  });
  assert.deepEqual(given.net, endpointGrants("/d"));
  assert.ok(given.net.every((host) => host === "unix:/d/store.sock"));
  assert.deepEqual(given.run, []);
  assert.deepEqual(given.write, ["/d", "/tmp/w"]);
});

Deno.test("sandboxPermissions() lets a checkout's skills and personas be read, and no more of it", () => {
  const env = (name: string) => name === "CYBEROS_ROOT" ? "/c" : undefined;
  const given = (args: readonly string[]) => {
    const sources = { args, env, readTextFile: () => "{}" };
    const { config } = loadConfig(sources);
    return sandboxPermissions(config, { ...FACTS, workDir: undefined }).read;
  };
  const personas = ["/c/modules/cuo", "/c/cuo"];
  assert.deepEqual(given([]), [
    ...personas,
    "/c/modules/skill",
    "/c/skills",
    "/c/skill",
  ]);
  assert.deepEqual(given(["--skills-dir=/s"]), ["/s", ...personas]);
});

Deno.test("sandboxPermissions() gives migrate the owner's database and nothing else", () => {
  const given = permissions(["--owner-database-url=postgres://o@db/x"], {
    command: "migrate",
    workDir: undefined,
  });
  assert.deepEqual(given.net, ["db:5432"]);
  assert.deepEqual([...given.run, ...given.read, ...given.write], []);
});

Deno.test("findProgram() finds an executable on PATH, and no relative or plain file", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/tool`, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.writeTextFile(`${dir}/plain`, "", { mode: 0o644 });
    await Deno.mkdir(`${dir}/folder`, { mode: 0o755 });
    const real = await Deno.realPath(dir);
    assert.equal(findProgram("tool", `.:/nowhere:${dir}`), `${real}/tool`);
    assert.equal(findProgram(`${dir}/tool`, undefined), `${real}/tool`);
    assert.equal(findProgram("plain", dir), undefined);
    assert.equal(findProgram("folder", dir), undefined);
    assert.equal(findProgram("tool", "."), undefined);
    assert.equal(findProgram("tool", undefined), undefined);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("defaultDataDir() follows each platform's custom", () => {
  const env = (name: string) => ({ HOME: "/h", LOCALAPPDATA: "C:\\L" })[name];
  assert.equal(defaultDataDir(env, "linux"), "/h/.local/share/cyberos");
  assert.equal(defaultDataDir(() => "/x", "linux"), "/x/cyberos");
  assert.equal(
    defaultDataDir(env, "darwin"),
    "/h/Library/Application Support/cyberos",
  );
  assert.equal(defaultDataDir(env, "windows"), "C:\\L\\cyberos");
});

Deno.test("prepare() passes on to CUO the variables that the operator names, and no other", () => {
  const variables: Record<string, string> = {
    PATH: "/usr/bin",
    CYBEROS_CUO_ENV_MODEL_KEY: "from the bridge's own name",
    OTHER_KEY: "readable",
    SECRET: "not named",
    CYBEROS_ACCESS_TOKEN: "never",
  };
  const env = (name: string) => variables[name];
  const readTextFile = () => "{}";
  const loaded = loadConfig({
    args: ["--cuo-env=MODEL_KEY,OTHER_KEY,ABSENT"],
    env,
    readTextFile,
  });
  const { message, cleanUp } = prepare({
    command: "serve",
    args: [],
    loaded,
    env,
  });
  cleanUp();
  assert.deepEqual(message.childEnv, {
    PATH: "/usr/bin",
    MODEL_KEY: "from the bridge's own name",
    OTHER_KEY: "readable",
  });
  for (const name of ["CYBEROS_ACCESS_TOKEN", "LD_PRELOAD", "A-B", "1A"]) {
    const bad = loadConfig({ args: [`--cuo-env=${name}`], env, readTextFile });
    assert.equal(bad.problems.length, 1, name);
  }
});
