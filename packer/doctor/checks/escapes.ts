/** Invariant 8: nothing in the bundle runs that must not, and no file is out of place. */
import type { Manifest } from "../../../schema/manifest.ts";
import { BRIDGE_PATHS } from "../../hosts/host.ts";
import { HOSTS } from "../../hosts/mod.ts";
import { readmeText } from "../../hosts/readme.ts";
import type { BundleEntry } from "../../types.ts";
import { display } from "../../zip/directory.ts";
import { judgeContent } from "../escapes/content.ts";
import { placeFault } from "../escapes/places.ts";
import type { Evidence } from "../evidence.ts";
import { fail, type Outcome, pass } from "../invariants.ts";
import type { DoctorFinding } from "../verdicts.ts";

/** Judges every file by its place and its content. */
export async function checkEscapes(evidence: Evidence): Promise<Outcome> {
  const findings: DoctorFinding[] = [];
  const generated = generatedFiles(evidence);
  for (const entry of evidence.entries) {
    findings.push(...await judgeEntry(evidence, generated, entry));
    if (findings.length >= MAX_FINDINGS) break;
  }
  if (findings.length > 0) return fail(...findings);
  const bridge = bridgeOf(evidence);
  return pass(
    bridge === undefined
      ? `${evidence.entries.length} files, all in place; none is a program`
      : `${evidence.entries.length} files, all in place; the only program is "${bridge}"`,
  );
}

// A hostile bundle may have thousands of faults: a person reads a few.
const MAX_FINDINGS = 50;

async function judgeEntry(
  { target, manifest, manifestPath }: Evidence,
  generated: ReadonlyMap<string, string>,
  entry: BundleEntry,
): Promise<readonly DoctorFinding[]> {
  const { path } = entry;
  const misplaced = placeFault(target, manifest, path);
  if (misplaced !== undefined) {
    const message = `"${display(path)}" ${misplaced}`;
    return [{ code: "PATH_UNEXPECTED", path, message }];
  }
  const isBridge = BRIDGE_PATHS.includes(path);
  if ((entry.mode === 0o755) !== isBridge) {
    const message = isBridge
      ? `"${path}" is the bridge's program and not executable`
      : `"${display(path)}" is executable and not the bridge`;
    return [{ code: "PROGRAM_SMUGGLED", path, message }];
  }
  if (isBridge || path === manifestPath) return [];
  return HOSTS[target].generatedPaths.includes(path)
    ? await judgeGenerated(generated, entry)
    : await judgeContent(entry);
}

/** What makes a host start a program must be what the packer makes for it. */
async function judgeGenerated(
  generated: ReadonlyMap<string, string>,
  entry: BundleEntry,
): Promise<readonly DoctorFinding[]> {
  const expected = generated.get(entry.path);
  const bytes = new TextEncoder().encode(expected);
  if (bytes.length === entry.size) {
    const there = await entry.read();
    if (there.every((byte, i) => byte === bytes[i])) return [];
  }
  const { path } = entry;
  const message =
    `"${path}" is not what the packer makes of this manifest for the host`;
  return [{ code: "HOST_CONFIG_FOREIGN", path, message }];
}

/** Empty where the manifest is too broken to make anything of it. */
function generatedFiles(evidence: Evidence): ReadonlyMap<string, string> {
  const host = HOSTS[evidence.target];
  const bridgePath = bridgeOf(evidence);
  const input = {
    manifest: evidence.manifest as unknown as Manifest,
    files: new Map<string, BundleEntry>(),
    ...(bridgePath !== undefined && { bridgePath }),
  };
  try {
    return new Map([
      ...host.generate(input),
      ["README.md", readmeText(host, input)],
    ]);
  } catch {
    return new Map();
  }
}

function bridgeOf({ entries }: Evidence): string | undefined {
  return entries.find(({ path }) => BRIDGE_PATHS.includes(path))?.path;
}
