import assert from "node:assert/strict";
import { secretContent } from "./secrets.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("secretContent() finds keys and tokens within other text", () => {
  const jwt = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(43)}`;
  for (
    const [text, what] of [
      ["-----BEGIN PRIVATE KEY-----", /private key/],
      ["-----BEGIN OPENSSH PRIVATE KEY-----", /private key/],
      ["-----BEGIN PGP PRIVATE KEY BLOCK-----", /private key/],
      [`token="${jwt}"`, /JWT/],
      [`Bearer ${jwt}`, /JWT/],
      [jwt, /JWT/],
    ] as const
  ) assert.match(secretContent(bytes(text)) ?? "", what, text);
});

Deno.test("secretContent() takes linear time, whatever the text", () => {
  const marks = [
    "eyJ-",
    "PRIVATE KEY",
    "AKIA",
    "ghp_",
    "github_pat_",
    "glpat-",
    "npm_",
    "xoxa-",
    "sk-",
    "AIza",
    "://a:",
    "://?token=",
  ];
  for (const mark of marks) {
    const filler = mark.repeat(400_000 / mark.length);
    const text = `-----BEGIN ${filler} .eyJ`;
    const begin = performance.now();
    secretContent(bytes(text));
    assert.ok(performance.now() - begin < 2000, mark);
  }
});
