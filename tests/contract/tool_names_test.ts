import assert from "node:assert/strict";
import { TOOLS } from "../../schema/tools.ts";

// SEP-986 asks for dots, which some hosts turn into underscores: what counts is that nothing collides or is cut.
const HOST_LIMIT = 60;
const SERVER = "cyberos";

Deno.test("ADP-01 the tools' names stay apart and whole in every host that rewrites them", () => {
  const folded = TOOLS.map(({ name }) =>
    name.replaceAll(/[._-]/g, "_").toLowerCase()
  );
  assert.equal(new Set(folded).size, 8);
  for (const { name } of TOOLS) {
    assert.match(name, /^[a-z0-9_.]{1,64}$/);
    assert.ok(`${SERVER}${name}`.length <= HOST_LIMIT, name);
  }
  // The control: names that a rewriting host would take for one are seen as one.
  assert.equal(
    new Set(["a.b", "a_b"].map((name) => name.replaceAll(/[._-]/g, "_"))).size,
    1,
  );
});
