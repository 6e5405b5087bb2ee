import assert from "node:assert/strict";
import { parseTraceparent } from "../telemetry/trace_context.ts";
import { traceIdOf } from "./trace_id.ts";

const ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

Deno.test("traceIdOf() takes the trace ids that spans take, and no others", () => {
  for (
    const header of [
      `00-${ID}-${SPAN}-01`,
      `00-${ID}-${SPAN}-01-more`,
      `00-${ID}-${SPAN}-01-`,
      `01-${ID}-${SPAN}-01-more`,
      `01-${ID}-${SPAN}-01more`,
      `ff-${ID}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${ID}-${"0".repeat(16)}-01`,
      `00-${ID.toUpperCase()}-${SPAN}-01`,
      `01-${ID}-${SPAN}-01-${"x".repeat(600)}`,
      "",
    ]
  ) {
    const span = parseTraceparent(header)?.traceId;
    const id = traceIdOf(header);
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(id === ID, span === ID, header);
  }
});
