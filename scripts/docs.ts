/** Writes the generated pages of `docs/`; a test keeps them equal to the code. */
import { generatedPages } from "./pages.ts";

for (const [name, text] of Object.entries(generatedPages())) {
  await Deno.writeTextFile(new URL(`../docs/${name}`, import.meta.url), text);
}
