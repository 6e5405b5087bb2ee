/**
 * The HTTP bridge on Deno Deploy, where there are no child processes and no
 * disk: CUO answers over HTTP JSON-RPC at `CUO_ENDPOINT`, skills come from a
 * broker, tasks live in PostgreSQL.
 *
 * Entry point of the app: `deploy/deno-deploy/main.ts`. Variables: those of
 * `docs/configuration.md`; the four that are needed are asked for below.
 */
import { loadConfig } from "../../bridge/config/load.ts";
import { createBridge } from "../../bridge/mod.ts";

const NEEDED = [
  "CYBEROS_DATABASE_URL",
  "CYBEROS_RESOURCE_URL",
  "CUO_ENDPOINT",
  "SKILL_BROKER_ENDPOINT",
] as const;

function configuration() {
  const { config, problems } = loadConfig({
    args: ["--transport=http"],
    env: (name) => Deno.env.get(name),
    readTextFile: () => {
      throw new Error("There are no files here");
    },
  });
  const wrong = [
    ...NEEDED.filter((name) => !Deno.env.get(name))
      .map((name) => `${name}: is not set`),
    ...problems.map(({ name, message }) => `${name}: ${message}`),
  ];
  if (wrong.length > 0) {
    throw new Error(`The bridge cannot start:\n  ${wrong.join("\n  ")}`);
  }
  return config;
}

const bridge = createBridge({
  config: configuration(),
  otel: Object.fromEntries(
    Object.entries(Deno.env.toObject())
      .filter(([name]) => name.startsWith("OTEL_")),
  ),
});

Deno.serve((request) => bridge.fetch(request));
