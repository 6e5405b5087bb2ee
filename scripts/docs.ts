/** Writes the generated pages of `docs/`; a test keeps them equal to the code. */
import { configurationPage } from "../bridge/config/help.ts";
import { toolsPage } from "./tools_page.ts";

const PAGES: Readonly<Record<string, string>> = {
  "configuration.md": configurationPage(),
  "tools.md": toolsPage(),
};

for (const [name, text] of Object.entries(PAGES)) {
  await Deno.writeTextFile(new URL(`../docs/${name}`, import.meta.url), text);
}
