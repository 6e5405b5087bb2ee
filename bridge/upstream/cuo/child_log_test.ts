import assert from "node:assert/strict";
import { FakeLogger } from "../../../tests/support/fake_logger.ts";
import { ChildLog, cleaned } from "./child_log.ts";

Deno.test("cleaned() masks what looks like a credential", () => {
  const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln";
  assert.ok(!cleaned(`Authorization: Bearer ${token}`).includes("eyJ"));
  assert.ok(!cleaned(`call with ${token} failed`).includes("eyJ"));
  assert.ok(!cleaned("api_key=sk-12345 used").includes("sk-12345"));
  assert.ok(!cleaned("password: hunter2").includes("hunter2"));
  assert.equal(cleaned("persona 'cto' not found"), "persona 'cto' not found");
});

Deno.test("cleaned() takes control characters out and cuts long lines", () => {
  assert.equal(cleaned("a\x1b[31mb\x07c"), "ab c");
  assert.ok(cleaned("x".repeat(10_000)).length < 600);
});

Deno.test("ChildLog bounds the rate and says how many lines it left out", () => {
  const log = new FakeLogger();
  const lines = new ChildLog(log, () => ({ trace_id: "t" }));
  for (let i = 0; i < 10_000; i++) lines.line(`line ${i}`);
  lines.end();
  assert.ok(log.lines.length < 200, String(log.lines.length));
  const left = log.lines.at(-1)!;
  assert.equal(left.event, "cuo stderr lines left out");
  assert.equal(left.fields["trace_id"], "t");
  assert.equal(log.lines[0]!.fields["line"], "line 0");
});
