/** A stranger's file of up to 1 MiB costs at most a second and bounded memory, whatever it holds. */
import assert from "node:assert/strict";
import { MANIFEST_LIMITS } from "../../schema/strict_json/mod.ts";
import { validateManifest } from "../../schema/validate.ts";
import type { Bendable } from "./support.ts";
import { minimal } from "./support.ts";

const SIZE = MANIFEST_LIMITS.maxBytes - 5000;

function filled(change: (manifest: Bendable) => void): string {
  const text = JSON.stringify(JSON.parse(minimal(change)));
  assert.ok(text.length <= MANIFEST_LIMITS.maxBytes, String(text.length));
  return text;
}

function times<T>(n: number, make: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => make(index));
}

const FILES: Record<string, () => string> = {
  "9,000 empty tools": () => filled((m) => m.tools = times(9000, () => ({}))),
  "9,000 tools of one name": () =>
    filled((m) => m.tools = times(2500, () => m.tools[0])),
  "tools with the scopes of thousands": () =>
    filled((m) =>
      m.tools = times(20, () => ({
        ...m.tools[0],
        scopes: times(2000, (i) => `cyberos:m:${"a".repeat(i % 9)}`),
      }))
    ),
  "a list of lists": () =>
    filled((m) => m.authors = times(90, () => times(5000, () => 0))),
  "thousands of unknown members at every level": () =>
    filled((m) => {
      const many = Object.fromEntries(times(9000, (i) => [`unknwon_${i}`, i]));
      m.auth = { ...m.auth, ...many };
      m.audit = { ...m.audit, ...many };
      m.capabilities = many;
      m.authors = [{ name: "x", ...many }];
    }),
  "a long description": () => filled((m) => m.description = "x".repeat(SIZE)),
  "a long id": () => filled((m) => m.id = "a-".repeat(SIZE / 2)),
  "a long version": () =>
    filled((m) => m.version = `1.0.0-${"0".repeat(SIZE)}`),
  "a long version of dots": () =>
    filled((m) => m.version = `1.0.0-${"1.".repeat(SIZE / 2)}!`),
  "a long tool name": () =>
    filled((m) => m.tools[0].name = `cyberos.a.${"a_".repeat(SIZE / 2)}!`),
  "a long licence": () =>
    filled((m) => m.license = "(MIT OR ".repeat(SIZE / 8)),
  "a long e-mail": () =>
    filled((m) => m.authors[0].email = `a@${"a.".repeat(SIZE / 2)}`),
  "a long URL": () =>
    filled((m) => m.auth.token_url = `https://a/${"/a%20".repeat(SIZE / 5)} `),
  "a long host": () =>
    filled((m) => m.auth.token_url = `https://${"a.".repeat(SIZE / 2)}`),
  "a long signature": () =>
    filled((m) => m.signature.sigstore_bundle = "A".repeat(SIZE)),
  "escapes only": () => `{"a": "${"\\u0061".repeat(SIZE / 6)}"}`,
  "quotes in quotes": () => `{"a": "${'\\"'.repeat(SIZE / 2)}"`,
  "an unterminated string": () => `{"a": "${"x\\\\".repeat(SIZE / 3)}`,
  "comments only": () => "/**/".repeat(SIZE / 4),
  "line comments": () => "//\n".repeat(SIZE / 3),
  "commas only": () => `[${",".repeat(SIZE)}`,
  "white space only": () => " \n".repeat(SIZE / 2),
  "white space before garbage": () => `${" ".repeat(SIZE)}x`,
  "duplicate keys": () => `{${'"a":1,'.repeat(9000)}"a":1}`,
  "duplicate long keys": () =>
    `{${times(20, () => `"${"k".repeat(50_000)}":1`).join()}}`,
  "big numbers": () => `[${"1".repeat(SIZE)}]`,
  "many big numbers": () => `[${times(9000, () => "9".repeat(100)).join()}]`,
  "a number with an exponent": () => `[1e${"9".repeat(SIZE)}]`,
  "words": () => `[${"NaN,".repeat(9000)}1]`,
  "byte order marks": () => "\ufeff".repeat(SIZE / 3),
  "deep objects": () => '{"a":'.repeat(SIZE / 5),
  "deep at the bound": () => `{"x":${"[".repeat(60)}${"]".repeat(60)}}`,
  "many short lines": () => `{"a":1,\n`.repeat(SIZE / 8),
};

for (const [name, make] of Object.entries(FILES)) {
  Deno.test(`validateManifest() ends within a second: ${name}`, async () => {
    const bytes = new TextEncoder().encode(make());
    // Another process may have had the core: the better of two counts.
    const first = await measure(bytes);
    const elapsed = first < 1000 ? first : await measure(bytes);
    assert.ok(elapsed < 1000, `${elapsed.toFixed()} ms`);
  });
}

async function measure(bytes: Uint8Array): Promise<number> {
  const start = performance.now();
  const { findings } = await validateManifest(bytes);
  const elapsed = performance.now() - start;
  assert.ok(findings.length >= 1 && findings.length <= 200);
  const size = JSON.stringify(findings).length;
  assert.ok(size < 2_000_000, `${size} characters of findings`);
  return elapsed;
}
