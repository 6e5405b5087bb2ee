/** The manifest that `init` writes. */
import type { Manifest } from "../../schema/manifest.ts";
import type { ManifestTarget } from "../../schema/manifest.ts";
import { findTool } from "../../schema/tools.ts";

/** What an author says about a new plugin. */
export interface StarterAnswers {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly author: string;
  readonly license: string;
  readonly targets: readonly string[];
}

/** `acme-crm` → `Acme Crm`. */
export function titleOf(id: string): string {
  return id.split("-").filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}

/** A description long enough for the contract, to be replaced. */
export function defaultDescription(name: string): string {
  return `${name} brings CyberOS to your editor. Replace this with what the plugin does for the person who installs it.`;
}

/** The smallest manifest that is useful: one read-only tool, nothing granted that is not used. */
export function starterManifest(answers: StarterAnswers): Manifest {
  const tool = findTool("cyberos.cuo.route");
  if (tool === undefined) throw new Error("The table of tools lacks route");
  return {
    schema_version: "1.0.0",
    id: answers.id,
    version: "1.0.0",
    name: answers.name,
    description: answers.description,
    authors: [{ name: answers.author }],
    license: answers.license,
    capabilities: { route_natural_language: true },
    tools: [{
      name: tool.name,
      description: tool.description,
      input_schema: tool.inputSchema,
      annotations: tool.annotations,
      scopes: tool.scopes,
    }],
    commands: [],
    skills: [],
    auth: {
      method: "oauth-pkce",
      authorize_url: "https://auth.cyberskill.world/v1/oauth/authorize",
      token_url: "https://auth.cyberskill.world/v1/oauth/token",
      scopes: tool.scopes,
    },
    audit: {
      endpoint: "https://memory.cyberskill.world/v1/audit",
      kinds: [
        "plugin.installed",
        "plugin.updated",
        "plugin.uninstalled",
        "plugin.invoked",
      ],
    },
    targets: answers.targets as readonly ManifestTarget[],
    signature: {
      sigstore_bundle: "unsigned: run cyberos-plugin sign",
      rekor_uuid: "unsigned: run cyberos-plugin sign",
    },
  };
}
