/** Which files may lie in commands, skills and assets, and what they must be inside. */

/** A kind of file, told from its name and confirmed by its first bytes. */
export type FileKind = "text" | "image" | "program" | "unknown";

const TEXT = new Set(["md", "txt", "json", "yaml", "yml", "csv"]);
const IMAGES: Readonly<Record<string, readonly (readonly number[])[]>> = {
  png: [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  jpg: [[0xff, 0xd8, 0xff]],
  jpeg: [[0xff, 0xd8, 0xff]],
  gif: [[0x47, 0x49, 0x46, 0x38]],
  webp: [[0x52, 0x49, 0x46, 0x46]],
  svg: [],
};

// First bytes of what a system or a runtime starts.
const PROGRAM_MAGIC: readonly (readonly number[])[] = [
  [0x23, 0x21], // #!
  [0x7f, 0x45, 0x4c, 0x46], // ELF
  [0x4d, 0x5a], // PE
  [0xfe, 0xed, 0xfa, 0xce], // Mach-O
  [0xfe, 0xed, 0xfa, 0xcf],
  [0xce, 0xfa, 0xed, 0xfe],
  [0xcf, 0xfa, 0xed, 0xfe],
  [0xca, 0xfe, 0xba, 0xbe], // Mach-O universal, Java class
  [0x00, 0x61, 0x73, 0x6d], // WebAssembly
  [0x50, 0x4b, 0x03, 0x04], // zip, jar
  [0x1f, 0x8b], // gzip
  [0x21, 0x3c, 0x61, 0x72, 0x63, 0x68], // ar
  [0x4c, 0x00, 0x00, 0x00, 0x01, 0x14, 0x02, 0x00], // Windows shortcut
];

const PROGRAMS: ReadonlySet<string> = new Set(
  ("sh bash zsh fish csh ksh command tool bat cmd ps1 psm1 psd1 vbs vbe wsf wsh hta " +
    "js mjs cjs jsx ts mts cts tsx py pyc pyw pyz rb pl pm php lua tcl r jl go rs swift kts " +
    "exe com scr dll msi msix sys drv cpl so dylib bundle o a node wasm jar war class dex apk " +
    "app pkg dmg deb rpm appimage run bin elf out lnk url desktop scpt applescript workflow " +
    "service plist reg inf html htm xhtml mht xml xsl zip tar gz tgz bz2 xz 7z rar whl gem")
    .split(" "),
);

/** What a file is by its name and its first bytes. */
export function fileKind(path: string, head: Uint8Array): FileKind {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const extension = name.includes(".")
    ? name.slice(name.lastIndexOf(".") + 1).toLowerCase()
    : "";
  if (PROGRAMS.has(extension) || isProgram(head)) return "program";
  if (TEXT.has(extension)) return "text";
  const magics = Object.hasOwn(IMAGES, extension)
    ? IMAGES[extension]
    : undefined;
  if (magics === undefined) return "unknown";
  if (magics.length === 0) return "image";
  return magics.some((magic) => startsWith(head, magic)) ? "image" : "unknown";
}

function isProgram(head: Uint8Array): boolean {
  return PROGRAM_MAGIC.some((magic) => startsWith(head, magic));
}

function startsWith(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => head[i] === byte);
}

// Where an SVG is, only what it holds itself: its own parts, and pixels.
const OWN = "(?!#|data:image/(?:png|jpeg|gif|webp)[;,])";

// No two unbounded parts can take the same characters: the time stays linear.
const SVG_FAULTS: readonly RegExp[] = [
  /<\s*(?:[\w-]+:)?(?:script|foreignObject|iframe|object|embed|handler|listener)\b/i,
  /<!(?:DOCTYPE|ENTITY)|<\?xml-stylesheet/i,
  /[\s"'/]on[a-z]+\s*=/i,
  /javascript\s*:/i,
  new RegExp(`(?:href|src)\\s*=\\s*(?:["']\\s*)?${OWN}[^\\s"'#]`, "i"),
  // An animation may set what was nothing at first.
  /attributeName\s*=\s*(?:["']\s*)?(?:[\w-]+:)?(?:href|src)\b/i,
  new RegExp(`url\\(\\s*(?:["']\\s*)?${OWN}[^\\s"'#)]`, "i"),
  /@import|image-set\s*\(/i,
];

/** SVG is a document that can carry scripts and load other things. */
export function svgFault(text: string): string | undefined {
  const plain = withoutEscapes(text);
  return SVG_FAULTS.some((fault) => fault.test(text) || fault.test(plain))
    ? "carries a script or loads something"
    : undefined;
}

// A character of XML or CSS in disguise.
const ESCAPE =
  /&#(?:x([0-9a-f]{1,8})|([0-9]{1,9}));|\\([0-9a-f]{1,6})\s?|\\(.)/gi;

function withoutEscapes(text: string): string {
  return text.replace(
    ESCAPE,
    (_, xmlHex, xmlDecimal, cssHex, cssPlain) =>
      cssPlain ?? character(
        xmlDecimal === undefined
          ? Number.parseInt(xmlHex ?? cssHex, 16)
          : Number(xmlDecimal),
      ),
  );
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}
