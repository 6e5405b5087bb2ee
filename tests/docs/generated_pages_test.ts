import assert from "node:assert/strict";
import { generatedPages } from "../../scripts/pages.ts";

for (const [name, text] of Object.entries(generatedPages())) {
  Deno.test(`docs/${name} is what the code says (deno task docs writes it)`, () => {
    const page = new URL(`../../docs/${name}`, import.meta.url);
    assert.equal(Deno.readTextFileSync(page), text);
  });
}
