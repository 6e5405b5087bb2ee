import assert from "node:assert/strict";
import { generate } from "./generate.ts";
import { MIGRATIONS } from "./mod.ts";

Deno.test("mod.ts holds exactly what the SQL files hold", async () => {
  const written = await Deno.readTextFile(new URL("mod.ts", import.meta.url));
  assert.equal(
    written.replaceAll("\r\n", "\n"),
    await generate(),
    "run migrations/generate.ts",
  );
});

Deno.test("migrations are numbered without gaps and each number is used once", () => {
  assert.deepEqual(
    MIGRATIONS.map((migration) => migration.version),
    MIGRATIONS.map((_, index) => index + 1),
  );
});

Deno.test("no migration sets the tenant for longer than a transaction, or runs as its definer", () => {
  for (const { name, sql } of MIGRATIONS) {
    const code = sql.replaceAll(/--.*$/gm, "");
    assert.doesNotMatch(code, /security\s+definer/i, name);
    assert.doesNotMatch(code, /set_config\([^;]*?,\s*false\s*\)/i, name);
    assert.doesNotMatch(code, /set\s+session/i, name);
  }
});
