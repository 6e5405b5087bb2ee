import assert from "node:assert/strict";
import { childEnvironment } from "./environment.ts";

const SECRETS = {
  CYBEROS_ACCESS_TOKEN: "secret",
  CYBEROS_TOKEN_FILE: "/secret",
  CYBEROS_MEMORY_TOKEN: "secret",
  CYBEROS_DATABASE_URL: "postgres://secret",
  CYBEROS_OWNER_DATABASE_URL: "postgres://secret",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret",
  LD_PRELOAD: "secret.so",
  AWS_SECRET_ACCESS_KEY: "secret",
};

Deno.test("AUTH-18 childEnvironment() passes a short list on and no secret", () => {
  const env = childEnvironment({
    environment: { PATH: "/usr/bin", HOME: "/home/x", ...SECRETS },
    root: "/srv/cyberos",
  });
  assert.equal(env["PATH"], "/usr/bin");
  assert.equal(env["HOME"], "/home/x");
  assert.equal(env["CYBEROS_ROOT"], "/srv/cyberos");
  assert.ok(!JSON.stringify(env).includes("secret"));
});

Deno.test("AUTH-18 childEnvironment() passes on what the operator names, but never the bridge's own secrets", () => {
  const env = childEnvironment({
    environment: { ...SECRETS, ANTHROPIC_API_KEY: "model-key" },
    pass: ["ANTHROPIC_API_KEY", ...Object.keys(SECRETS)],
  });
  assert.equal(env["ANTHROPIC_API_KEY"], "model-key");
  assert.deepEqual(
    Object.keys(env).filter((name) => /^(CYBEROS|LD|OTEL)_/.test(name)),
    [],
  );
});
