/** The YAML at the head of a Markdown file, read as data and nothing else. */

/** A file's head and body, or why there is none. */
export type Frontmatter =
  | {
    readonly ok: true;
    readonly data: Readonly<Record<string, unknown>>;
    readonly body: string;
  }
  | { readonly ok: false; readonly line: number; readonly reason: string };

const MAX_HEAD_CHARS = 64 * 1024;

/**
 * Reads `---`, YAML, `---`. Core schema only: no tags of other types, no
 * aliases (each of the two can turn a short text into a bomb or an object), no
 * duplicate keys. A byte order mark and CRLF are fine.
 */
export async function parseFrontmatter(text: string): Promise<Frontmatter> {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (!/^---[ \t]*\n/.test(plain)) return fault(1, "has no YAML frontmatter");
  const start = plain.indexOf("\n") + 1;
  const close = /^---[ \t]*$/m.exec(plain.slice(start));
  if (close === null) return fault(1, "has a frontmatter that never ends");
  const head = plain.slice(start, start + close.index);
  if (head.length > MAX_HEAD_CHARS) {
    return fault(1, "has too long a frontmatter");
  }
  const body = plain.slice(start + close.index + close[0].length)
    .replace(/^\n+/, "");
  const read = await parseYaml(head);
  return read.ok ? { ok: true, data: read.data, body } : read;
}

async function parseYaml(head: string): Promise<
  | { readonly ok: true; readonly data: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly line: number; readonly reason: string }
> {
  const { parseDocument, LineCounter } = await import("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(head, {
    version: "1.2",
    schema: "core",
    customTags: [],
    resolveKnownTags: false,
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
    lineCounter,
    logLevel: "silent",
  });
  // A tag that is not of the core schema is only warned of; it must not pass as its text.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const { line } = lineCounter.linePos(problem.pos[0]);
    return fault(line + 1, `is not valid YAML (${problem.code})`);
  }
  try {
    const data: unknown = document.toJS({ maxAliasCount: 0 });
    if (typeof data === "object" && data !== null && !Array.isArray(data)) {
      return { ok: true, data: data as Readonly<Record<string, unknown>> };
    }
    return fault(2, "has a frontmatter that is not a mapping");
  } catch {
    return fault(2, "uses YAML aliases, which are not read");
  }
}

function fault(
  line: number,
  reason: string,
): { readonly ok: false; readonly line: number; readonly reason: string } {
  return { ok: false, line, reason };
}
