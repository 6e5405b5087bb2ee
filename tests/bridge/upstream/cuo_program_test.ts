/** Which program is started, with what, and what is said when there is none. */
import assert from "node:assert/strict";
import { createCuo } from "../../../bridge/upstream/cuo/cuo.ts";
import type { CuoOptions } from "../../../bridge/upstream/cuo/options.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { after, RUN, withCuo } from "./cuo_bench.ts";

function without(options: Partial<CuoOptions>) {
  const bench = new UpstreamBench();
  const cuo = createCuo({
    program: "cyberos-cuo",
    protocol: "auto",
    environment: {},
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    ...options,
  });
  return { bench, cuo };
}

Deno.test("createCuo() says exactly what to do where there is no program", async () => {
  for (
    const program of [
      undefined,
      "cyberos-cuo-is-not-here",
      "/nowhere/cyberos-cuo",
    ]
  ) {
    const { bench, cuo } = without({ program });
    for (
      const call of [
        cuo.listPersonas(bench.context()),
        cuo.executeWorkflow(RUN, bench.run()),
      ]
    ) {
      const error = await refusal(call);
      assert.equal(error.code, "UPSTREAM_NOT_CONFIGURED");
      assert.equal(error.class, "upstream_unavailable");
      assert.match(error.hint, /CYBEROS_CUO/);
      assert.match(error.hint, /--embedded/);
      assert.ok(!error.message.includes("/nowhere"));
    }
    assert.equal((await cuo.status(after(2_000))).state, "not configured");
    await cuo.close();
  }
});

Deno.test("createCuo() says what to do where the program is not executable", () =>
  withCuo({}, {}, async (bench) => {
    Deno.chmodSync(bench.fake.program, 0o644);
    const error = await refusal(bench.cuo.listPersonas(bench.context()));
    assert.equal(error.code, "UPSTREAM_NOT_CONFIGURED");
    assert.match(error.hint, /executable/);
    Deno.chmodSync(bench.fake.program, 0o755);
    await bench.cuo.listPersonas(bench.context());
  }));

Deno.test("createCuo() keeps to the program that PATH led to first", () =>
  withCuo({}, {}, async (bench) => {
    const evil = `${bench.fake.root}/evil`;
    await Deno.mkdir(evil);
    const { bench: calls, cuo } = without({
      program: "cyberos-cuo",
      root: bench.fake.root,
      environment: {
        ...Deno.env.toObject(),
        PATH: `${evil}:.:relative:${bench.fake.binDir}:${Deno.env.get("PATH")}`,
      },
      protocol: "cli",
    });
    await cuo.listPersonas(calls.context());
    await Deno.writeTextFile(`${evil}/cyberos-cuo`, "#!/bin/sh\nexit 66\n", {
      mode: 0o755,
    });
    assert.equal((await cuo.listPersonas(calls.context())).length, 2);
    await cuo.close();
  }));

Deno.test("AUTH-18 createCuo() gives the program nothing of the caller's and nothing of the bridge's secrets", () =>
  withCuo({}, {
    environment: {
      ...Deno.env.toObject(),
      CYBEROS_ACCESS_TOKEN: "caller-token",
      CYBEROS_MEMORY_TOKEN: "bridge-secret",
      CYBEROS_DATABASE_URL: "postgres://bridge-secret",
      MODEL_KEY: "model-key",
      UNNAMED: "unnamed-secret",
    },
    passEnvironment: ["MODEL_KEY", "CYBEROS_ACCESS_TOKEN"],
  }, async (bench) => {
    await bench.cuo.listPersonas(bench.context());
    await bench.cuo.executeWorkflow(RUN, bench.run());
    const seen = JSON.stringify(bench.fake.journal());
    for (const secret of ["caller-token", "bridge-secret", "unnamed-secret"]) {
      assert.ok(!seen.includes(secret), secret);
    }
    const env = bench.fake.journal()[0]!["env"] as Record<string, string>;
    assert.equal(env["MODEL_KEY"], "model-key");
    assert.equal(env["CYBEROS_ROOT"], bench.fake.root);
  }));

Deno.test("createCuo() works under the exact permissions of a bridge, and starts nothing else", () =>
  withCuo({}, {}, async (bench) => {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--allow-env=PATH,HOME",
        `--allow-run=${bench.fake.program}`,
        new URL("run_scoped.ts", import.meta.url).pathname,
        bench.fake.program,
        bench.fake.root,
      ],
      stdin: "null",
      stderr: "inherit",
    }).output();
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), {
      personas: 2,
      cancelled: "TASK_CANCELLED",
      other: "UPSTREAM_NOT_CONFIGURED",
    });
  }));
