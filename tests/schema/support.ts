/** What the tests of the validator share. */
import type { Finding } from "../../schema/finding.ts";
import { validateManifest } from "../../schema/validate.ts";

/** A JSON value that tests may bend as they like. */
// deno-lint-ignore no-explicit-any
export type Bendable = any;

const FIXTURES = new URL("../fixtures/manifests/", import.meta.url);

/** A fixture's bytes. */
export function fixture(name: string): Uint8Array {
  return Deno.readFileSync(new URL(name, FIXTURES));
}

/** The names in a folder of fixtures. */
export function fixtureNames(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, FIXTURES))]
    .map(({ name }) => `${folder}${name}`).sort();
}

/** The specification's minimal manifest, changed. */
export function minimal(
  change: (manifest: Bendable) => void = () => {},
): string {
  return changed("valid_minimal_plugin.json", change);
}

/** A manifest with every field, changed. */
export function complete(
  change: (manifest: Bendable) => void = () => {},
): string {
  return changed("valid_complete_plugin.json", change);
}

function changed(name: string, change: (manifest: Bendable) => void): string {
  const manifest = JSON.parse(new TextDecoder().decode(fixture(name)));
  change(manifest);
  return JSON.stringify(manifest, null, 2);
}

/** The errors in a manifest. */
export async function errorsOf(
  source: string | Uint8Array,
): Promise<readonly Finding[]> {
  const { findings } = await validateManifest(source);
  return findings.filter(({ severity }) => severity === "error");
}

/** The warnings in a manifest. */
export async function warningsOf(
  source: string | Uint8Array,
): Promise<readonly Finding[]> {
  const { findings } = await validateManifest(source);
  return findings.filter(({ severity }) => severity === "warning");
}

/** `/id pattern` for each finding: what most tests compare. */
export function brief(findings: readonly Finding[]): string[] {
  return findings.map(({ json_pointer, constraint }) =>
    `${json_pointer} ${constraint}`
  );
}
