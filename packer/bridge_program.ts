/** Tells a compiled bridge from other files, and for which platform it is. */

/** A program's platform, named as Deno's npm packages name it. */
export interface ProgramPlatform {
  /** Such as `linux-x64`. */
  readonly platform: string;
  /** `.exe` on Windows, else empty. */
  readonly extension: "" | ".exe";
}

/** Bytes of a file's start that {@link programPlatform} needs. */
export const PROGRAM_HEAD_BYTES = 4096;

/** The platform of a compiled program, or `undefined` for anything else. */
export function programPlatform(
  head: Uint8Array<ArrayBuffer>,
): ProgramPlatform | undefined {
  if (head.length < 64) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return elf(view) ?? machO(view) ?? portableExecutable(view);
}

// Source: System V ABI, ELF header: e_machine at 18.
function elf(view: DataView): ProgramPlatform | undefined {
  if (view.getUint32(0, false) !== 0x7f454c46) return undefined;
  const machine = { 62: "x64", 183: "arm64" }[view.getUint16(18, true)];
  return named("linux", machine, "");
}

// Source: mach-o/loader.h: cputype behind the 64-bit magic.
function machO(view: DataView): ProgramPlatform | undefined {
  if (view.getUint32(0, true) !== 0xfeedfacf) return undefined;
  const machine = { 0x01000007: "x64", 0x0100000c: "arm64" }[
    view.getUint32(4, true)
  ];
  return named("darwin", machine, "");
}

// Source: PE format: the COFF header's place is at 0x3c, its machine behind "PE\0\0".
function portableExecutable(view: DataView): ProgramPlatform | undefined {
  if (view.getUint16(0, false) !== 0x4d5a) return undefined;
  const at = view.getUint32(0x3c, true);
  if (at + 6 > view.byteLength || view.getUint32(at, false) !== 0x50450000) {
    return undefined;
  }
  const machine = { 0x8664: "x64", 0xaa64: "arm64" }[
    view.getUint16(at + 4, true)
  ];
  return named("win32", machine, ".exe");
}

function named(
  system: string,
  machine: string | undefined,
  extension: "" | ".exe",
): ProgramPlatform | undefined {
  return machine === undefined
    ? undefined
    : { platform: `${system}-${machine}`, extension };
}
