/** The software bill of materials: every npm package that a program can load, and the runtime. */
import type { Program } from "./programs.ts";
import {
  closure,
  type DenoConfig,
  type DenoLock,
  type LockedPackage,
  ROOT,
} from "./project.ts";
import { run } from "./run.ts";

/** What the page is made from. */
export interface SbomInput {
  readonly config: DenoConfig;
  readonly lock: DenoLock;
  readonly programs: readonly Program[];
  /** Version of the Deno whose runtime is in the programs. */
  readonly denoVersion: string;
}

interface Graph {
  readonly modules: readonly {
    readonly kind: string;
    readonly npmPackage?: string;
  }[];
}

/** Which locked packages the modules of some programs import, and what those need. */
export async function shippedPackages(
  lock: DenoLock,
  programs: readonly Program[],
): Promise<string[]> {
  const roots = new Set<string>();
  for (const entry of programs.flatMap(({ entries }) => entries)) {
    const info = await run(Deno.execPath(), ["info", "--json", entry], ROOT);
    for (const { npmPackage } of (JSON.parse(info) as Graph).modules) {
      if (npmPackage !== undefined) roots.add(npmPackage);
    }
  }
  return closure(lock, [...roots]);
}

/**
 * Writes the bill. The same source gives the same text: there is no time in it,
 * and its serial number is made from its content.
 *
 * Source: CycloneDX 1.6, JSON.
 */
export async function sbom(input: SbomInput): Promise<string> {
  const { config, lock, programs, denoVersion } = input;
  const keys = await shippedPackages(lock, programs);
  const components = [
    {
      "bom-ref": `pkg:github/denoland/deno@v${denoVersion}`,
      type: "platform",
      name: "deno",
      version: denoVersion,
      purl: `pkg:github/denoland/deno@v${denoVersion}`,
    },
    ...distinct(keys.map((key) => component(key, lock.npm[key]))),
  ];
  const body = {
    metadata: {
      component: {
        "bom-ref": `cyberos@${config.version}`,
        type: "application",
        name: "cyberos",
        version: config.version,
        licenses: [{ license: { id: "Apache-2.0" } }],
        components: programs.map(({ name }) => ({
          "bom-ref": `${name}@${config.version}`,
          type: "application",
          name,
          version: config.version,
        })),
      },
    },
    components,
    dependencies: [
      {
        ref: `cyberos@${config.version}`,
        dependsOn: components.map((one) => one["bom-ref"]),
      },
    ],
  };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: await serialNumber(JSON.stringify(body)),
    version: 1,
    ...body,
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** A package that is there twice with other peers is one package. */
function distinct<T extends { "bom-ref": string }>(all: readonly T[]): T[] {
  return [...new Map(all.map((one) => [one["bom-ref"], one])).values()];
}

function component(key: string, locked: LockedPackage | undefined) {
  const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  if (name === undefined || version === undefined || locked === undefined) {
    throw new Error(`deno.lock has a key of another form: ${key}`);
  }
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    "bom-ref": purl,
    type: "library",
    name,
    version,
    purl,
    hashes: [{ alg: "SHA-512", content: hex(locked.integrity) }],
  };
}

function hex(integrity: string): string {
  if (!integrity.startsWith("sha512-")) {
    throw new Error(`Want a SHA-512, got ${integrity}`);
  }
  const bytes = Uint8Array.from(
    atob(integrity.slice(7)),
    (character) => character.charCodeAt(0),
  );
  return toHex(bytes);
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function serialNumber(text: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  const bytes = new Uint8Array(digest).slice(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const digits = toHex(bytes);
  const groups = [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]] as const;
  return `urn:uuid:${
    groups.map(([from, to]) => digits.slice(from, to)).join("-")
  }`;
}
