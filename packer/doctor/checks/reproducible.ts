/** Invariant 1: packing the content again gives exactly these bytes. */
import type { ZipSink } from "../../zip/writer.ts";
import { writeZip } from "../../zip/writer.ts";
import { HOSTS } from "../../hosts/mod.ts";
import type { ArchiveSource } from "../../zip/source.ts";
import { declaredFiles } from "../escapes/places.ts";
import type { Evidence } from "../evidence.ts";
import { fail, type Outcome, pass } from "../invariants.ts";
import type { DoctorFinding } from "../verdicts.ts";

/** Packs again and compares as the bytes come. */
export async function checkReproducible(evidence: Evidence): Promise<Outcome> {
  const faults = unpackable(evidence);
  if (faults.length > 0) return fail(...faults);
  const { source, entries, notes } = evidence;
  const compare = new ComparingSink(source);
  const written = await writeZip(entries, compare);
  notes.sha256 = written.sha256;
  if (source === undefined) {
    return pass("The folder packs to the archive with the SHA-256 below");
  }
  const at = compare.differsAt ??
    (written.size === source.size ? undefined : written.size);
  return at === undefined
    ? pass("Packing the content again gives exactly these bytes")
    : fail({
      code: "ZIP_NOT_REPRODUCIBLE",
      message:
        `Packing the content again gives other bytes from offset ${at} on: another compressor, or bytes that no file needs`,
      offset: at,
    });
}

/** Why the packer would not have made this bundle at all. */
function unpackable(evidence: Evidence): readonly DoctorFinding[] {
  const { notCanonical, issues, manifest, target, entries } = evidence;
  const findings = [...issues.get("reproducible") ?? []];
  if (notCanonical !== undefined) findings.unshift(notCanonical);
  const schemaFault = (message: string, jsonPointer: string) =>
    findings.push({ code: "MANIFEST_SCHEMA", message, jsonPointer });
  const { targets } = manifest;
  if (Array.isArray(targets) && !targets.includes(target)) {
    schemaFault(
      `The manifest does not name the target "${target}"`,
      "/targets",
    );
  }
  const paths = new Set(entries.map(({ path }) => path));
  for (const { path, pointer } of declaredFiles(manifest, HOSTS[target])) {
    if (paths.has(path)) continue;
    schemaFault(`"${path}" is declared and not there`, pointer);
  }
  return findings;
}

/** Keeps nothing: memory stays within one entry. */
class ComparingSink implements ZipSink {
  readonly #source: ArchiveSource | undefined;
  #at = 0;
  differsAt: number | undefined;

  constructor(source: ArchiveSource | undefined) {
    this.#source = source;
  }

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const at = this.#at;
    this.#at += bytes.length;
    if (this.#source === undefined || this.differsAt !== undefined) return;
    const there = await this.#source.read(at, bytes.length);
    const index = bytes.findIndex((byte, i) => byte !== there[i]);
    if (index >= 0) this.differsAt = at + index;
  }
}
