/** `cyberos-mcp-bridge --help`. */
import { VERSION } from "../../schema/version.ts";
import { settingsHelp } from "../config/help.ts";

/** The whole text. */
export function programHelp(): string {
  return `cyberos-mcp-bridge ${VERSION}: CyberOS for AI hosts, as an MCP 2025-11-25 server

Usage: cyberos-mcp-bridge [COMMAND] [SETTINGS]

Commands:
  serve     serve MCP on stdio, or on http with --transport http (the default)
  check     try everything that is configured and say what is wrong  [--json]
  health    ask the bridge that listens on http whether it lives (for container health checks)
  migrate   make or update the task tables, as the database's owner  [--dry-run]
  token     print an access token of the embedded issuer, with --embedded
              [--scope "S S"] [--tenant UUID] [--subject NAME] [--expires SECONDS]
  reset     delete the embedded data folder, with --embedded  [--yes]

First try, with nothing configured:  cyberos-mcp-bridge --embedded

Settings: flags win over the environment, the environment over --config FILE (JSON).

${settingsHelp()}

OpenTelemetry: OTEL_EXPORTER_OTLP_ENDPOINT and its standard companions; off by default.

Exit codes: 0 ended in good order, 1 it could not serve, 2 wrong usage or configuration.
`;
}
