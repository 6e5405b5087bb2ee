import assert from "node:assert/strict";
import { shapeFault } from "./bundle_shape.ts";
import testBundle from "./known_good_bundle.json" with { type: "json" };

// deno-lint-ignore no-explicit-any -- tests reach into any corner of it
function changed(change: (bundle: any) => void): unknown {
  const copy = structuredClone(testBundle);
  change(copy);
  return copy;
}

Deno.test("shapeFault() accepts a real bundle", () => {
  assert.equal(shapeFault(testBundle), undefined);
});

Deno.test("shapeFault() names what is out of shape", () => {
  const faults: [RegExp, unknown][] = [
    [/not an object/, null],
    [/not an object/, []],
    [/unknown member/, changed((bundle) => bundle.x = 1)],
    [/unknown member/, JSON.parse('{"__proto__":{}}')],
    [/unknown member/, JSON.parse('{"constructor":{}}')],
    [/mediaType is not a text/, changed((bundle) => bundle.mediaType = 1)],
    [
      /signatures is not a list/,
      changed((bundle) => bundle.dsseEnvelope.signatures = {}),
    ],
    [
      /signatures\[0\] has an unknown member/,
      changed((bundle) => bundle.dsseEnvelope.signatures[0].x = 1),
    ],
    [
      /payload is not base64/,
      changed((bundle) => bundle.dsseEnvelope.payload = "a"),
    ],
    [
      /logIndex is no number/,
      changed(({ verificationMaterial }) =>
        verificationMaterial.tlogEntries[0].logIndex = "-1"
      ),
    ],
  ];
  for (const [message, bundle] of faults) {
    assert.match(shapeFault(bundle) ?? "", message);
  }
});
