import assert from "node:assert/strict";
import { PackerError } from "../errors.ts";
import { withSignature } from "./manifest_text.ts";

const SIGNATURE = { sigstore_bundle: "Zm9v", rekor_uuid: "00ff" };

Deno.test("withSignature() replaces the signature and leaves every other byte", () => {
  const text =
    '{\n  "id" : "x",   "list": [1,\n2],\n  "signature": {"a": "}\\"", "b": []},\n  "z":1e2\n}\n\n';
  const signed = withSignature(text, SIGNATURE);
  assert.equal(
    signed,
    '{\n  "id" : "x",   "list": [1,\n2],\n  "signature": {\n    "sigstore_bundle": "Zm9v",\n    "rekor_uuid": "00ff"\n  },\n  "z":1e2\n}\n\n',
  );
});

Deno.test("withSignature() adds a signature in the text's own style", () => {
  assert.equal(
    withSignature('{\r\n\t"id": "x"\r\n}\r\n', SIGNATURE),
    '{\r\n\t"id": "x",\r\n\t"signature": {\r\n\t\t"sigstore_bundle": "Zm9v",\r\n\t\t"rekor_uuid": "00ff"\r\n\t}\r\n}\r\n',
  );
  assert.equal(
    withSignature('{"id":"x"}', SIGNATURE),
    '{"id":"x","signature":{"sigstore_bundle":"Zm9v","rekor_uuid":"00ff"}}',
  );
  assert.equal(
    withSignature("{}", SIGNATURE),
    '{"signature":{"sigstore_bundle":"Zm9v","rekor_uuid":"00ff"}}',
  );
});

Deno.test("withSignature() replaces a signature of any kind, twice as well as once", () => {
  for (
    const value of [
      "null",
      "7",
      '"text"',
      "{}",
      "[[]]",
      '{"signature":{"signature":1}}',
    ]
  ) {
    const text =
      `{\n  "a": {"signature": 1},\n  "signature": ${value},\n  "b": 2\n}\n`;
    const once = withSignature(text, SIGNATURE);
    assert.deepEqual(JSON.parse(once), {
      a: { signature: 1 },
      signature: SIGNATURE,
      b: 2,
    });
    assert.equal(withSignature(once, SIGNATURE), once);
  }
});

Deno.test("withSignature() refuses what is no strict JSON object", () => {
  for (
    const text of [
      "",
      "[]",
      "7",
      "{",
      '{"a":1,"a":2}',
      '{"a":1}//',
      '\ufeff{"a":1}',
    ]
  ) {
    assert.throws(
      () => withSignature(text, SIGNATURE),
      (error) =>
        error instanceof PackerError && error.code === "MANIFEST_INVALID",
      text,
    );
  }
});
