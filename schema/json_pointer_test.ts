import assert from "node:assert/strict";
import {
  escapeToken,
  fromPointer,
  resolvePointer,
  toPointer,
} from "./json_pointer.ts";

// RFC 6901 §5.
const DOCUMENT = {
  "foo": ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};

Deno.test("resolvePointer() gives the examples of RFC 6901 §5", () => {
  const examples: [string, unknown][] = [
    ["", DOCUMENT],
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    ["/i\\j", 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
  ];
  for (const [pointer, value] of examples) {
    assert.deepEqual(resolvePointer(DOCUMENT, pointer), value, pointer);
    assert.equal(toPointer(fromPointer(pointer) ?? []), pointer);
  }
});

Deno.test("resolvePointer() finds nothing where nothing is", () => {
  for (
    const pointer of [
      "/foo/2",
      "/foo/-",
      "/foo/00",
      "/foo/01",
      "/foo/bar",
      "/toString",
      "/__proto__",
      "/a~1b/x",
      "foo",
      "/m~2n",
      "/m~",
    ]
  ) assert.equal(resolvePointer(DOCUMENT, pointer), undefined, pointer);
});

Deno.test("escapeToken() and fromPointer() are each other's inverse", () => {
  for (const token of ["", "/", "~", "~1", "~0", "~01", "a/b~c"]) {
    assert.deepEqual(fromPointer(`/${escapeToken(token)}`), [token]);
  }
});
