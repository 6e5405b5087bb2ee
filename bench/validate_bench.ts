/** Validating a manifest of 200 tools: whole processes, and warm in this one. */
import starter from "../tests/fixtures/manifests/valid_minimal_plugin.json" with {
  type: "json",
};
import manifestSchema from "../schema/manifest.schema.json" with {
  type: "json",
};
import { validateManifest } from "../schema/validate.ts";
import type { Bench, Row } from "./row.ts";
import {
  helloWorld,
  median,
  npmPeers,
  paired,
  processMs,
  ROOT,
} from "./support.ts";

const RUNS = 15;
const TOOLS = 200;

/** Measures; see {@link Bench}. */
export const bench: Bench = async (report) => {
  const folder = await Deno.makeTempDir();
  try {
    const text = JSON.stringify(manifestOf(TOOLS), null, 2);
    const manifest = `${folder}/plugin.json`;
    await Deno.writeTextFile(manifest, text);
    report(await warm(text));
    const deno = Deno.execPath();
    const ours = () =>
      processMs(deno, [
        "run",
        "--quiet",
        "--no-prompt",
        "--allow-read",
        `${ROOT}cli.ts`,
        "validate",
        manifest,
      ]);
    const hello = await helloWorld();
    report({
      name: `validate ${TOOLS} tools, beside a Deno hello world`,
      ...await paired(
        RUNS,
        ours,
        () => processMs(deno, ["run", "--quiet", "--no-prompt", hello]),
      ),
      unit: "ms",
      aim: "at most 5×",
    });
    for (const peer of await peers(folder, manifest, text.length)) {
      report({
        name: `validate ${TOOLS} tools, beside ${peer.name} on Node`,
        ...await paired(RUNS, ours, () => processMs("node", peer.args)),
        unit: "ms",
        aim: "less than 1×",
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

/** The specification gives 100 ms (§11.5); a tenth of it is ours. */
async function warm(text: string): Promise<Row> {
  const times: number[] = [];
  const bytes = new TextEncoder().encode(text);
  for (let run = 0; run < 60; run++) {
    const began = performance.now();
    const { valid } = await validateManifest(bytes);
    if (!valid) throw new Error("the manifest is not valid");
    if (run >= 20) times.push(performance.now() - began);
  }
  return {
    name:
      `validate ${TOOLS} tools in process, beside the specification's bound`,
    ours: median(times),
    peer: 100,
    unit: "ms",
    aim: "at most 0.1×",
  };
}

interface Peer {
  readonly name: string;
  readonly args: readonly string[];
}

/** Each checks a file of the same size, of its own kind. */
async function peers(
  folder: string,
  manifest: string,
  size: number,
): Promise<Peer[]> {
  const modules = `${await npmPeers([
    "@anthropic-ai/mcpb",
    "ajv-cli",
    "ajv-formats",
  ])}/node_modules`;
  const bundle = `${folder}/mcpb.json`;
  await Deno.writeTextFile(bundle, mcpbManifest(size));
  const schema = `${folder}/schema.json`;
  await Deno.writeTextFile(schema, JSON.stringify(manifestSchema));
  return [
    {
      name: "mcpb validate",
      args: [
        `${modules}/@anthropic-ai/mcpb/dist/cli/cli.js`,
        "validate",
        bundle,
      ],
    },
    {
      name: "ajv-cli",
      args: [
        `${modules}/ajv-cli/dist/index.js`,
        "validate",
        "--spec=draft2020",
        "--strict=false",
        "-c",
        `${modules}/ajv-formats/dist/index.js`,
        "-s",
        schema,
        "-d",
        manifest,
      ],
    },
  ];
}

function manifestOf(tools: number): unknown {
  const scopes = ["cyberos:crm:read"];
  return {
    ...starter,
    capabilities: {},
    tools: Array.from({ length: tools }, (_, index) => ({
      name: `cyberos.crm.list_things_${index}`,
      description:
        `List the things of kind ${index} that the CRM knows about, newest first, with their owners.`,
      input_schema: {
        type: "object",
        properties: {
          query: {
            type: "string",
            minLength: 1,
            maxLength: 200,
            description: "What to look for, in the person's own words.",
          },
          limit: { type: "integer", minimum: 1, maximum: 500, default: 50 },
          tags: {
            type: "array",
            items: { type: "string", pattern: "^[a-z]+(-[a-z]+)*$" },
          },
          order: { type: "string", enum: ["asc", "desc"] },
        },
        required: ["query"],
        additionalProperties: false,
      },
      annotations: { destructive: false, write: false, external_effect: false },
      scopes,
    })),
    auth: { ...starter.auth, scopes },
  };
}

/** A manifest of mcpb's own, filled up with tools to the same size. */
function mcpbManifest(size: number): string {
  const tool = (index: number) => ({
    name: `list_things_${index}`,
    description:
      `List the things of kind ${index} that the CRM knows about, newest first. `
        .repeat(8),
  });
  const each = JSON.stringify(tool(100), null, 2).length;
  return JSON.stringify(
    {
      manifest_version: "0.3",
      name: "bench",
      version: "1.0.0",
      description: "A manifest of the same size",
      author: { name: "Bench" },
      server: {
        type: "node",
        entry_point: "server/index.js",
        mcp_config: { command: "node", args: ["server/index.js"] },
      },
      tools: Array.from({ length: Math.ceil(size / each) }, (_, i) => tool(i)),
    },
    null,
    2,
  );
}
