/** The generated pages of `docs/`, by name. */
import { configurationPage } from "../bridge/config/help.ts";
import { errorsPage } from "./errors_page.ts";
import { toolsPage } from "./tools_page.ts";

/** What each file must hold. */
export function generatedPages(): Readonly<Record<string, string>> {
  return {
    "configuration.md": configurationPage(),
    "errors.md": errorsPage(),
    "tools.md": toolsPage(),
  };
}
