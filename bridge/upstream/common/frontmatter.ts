/** The YAML at the head of a Markdown file, read as data and nothing else. */

/** A file's head and body, or why there is none. */
export type Frontmatter =
  | {
    readonly ok: true;
    readonly data: Readonly<Record<string, unknown>>;
    readonly body: string;
  }
  | Fault;

interface Fault {
  readonly ok: false;
  /** 1-based, in the file. */
  readonly line: number;
  readonly reason: string;
}

interface Mapping {
  readonly ok: true;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A top-level key with all that belongs to it. */
interface Part {
  readonly key: string;
  readonly text: string;
  /** 0-based, in the head. */
  readonly line: number;
}

const MAX_HEAD_CHARS = 64 * 1024;
const MAX_REMEMBERED = 4_000;

/**
 * Reads heads: `---`, YAML, `---`. Core schema only: no tags of other types, no
 * aliases (a few of them make gigabytes), no duplicate keys, bounded depth. A
 * byte order mark and CRLF are fine.
 *
 * The skills of a catalogue have most parts of their heads in common, letter by
 * letter. A reader parses each such part once, which makes a cold scan of
 * hundreds of files several times faster.
 */
export class FrontmatterReader {
  readonly #remembered = new Map<string, Mapping | Fault>();

  /** Never rejects. */
  async read(text: string): Promise<Frontmatter> {
    const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
    if (!/^---[ \t]*\n/.test(plain)) return fault(1, "has no YAML frontmatter");
    const start = plain.indexOf("\n") + 1;
    const close = /^---[ \t]*$/m.exec(plain.slice(start));
    if (close === null) return fault(1, "has a frontmatter that never ends");
    const head = plain.slice(start, start + close.index);
    if (head.length > MAX_HEAD_CHARS) {
      return fault(1, "has too long a frontmatter");
    }
    const mapping = await this.#readHead(head);
    if (!mapping.ok) return mapping;
    const body = plain.slice(start + close.index + close[0].length);
    return { ...mapping, body: body.replace(/^\n+/, "") };
  }

  async #readHead(head: string): Promise<Mapping | Fault> {
    const parts = splitHead(head);
    if (parts === undefined) return await parseYaml(head);
    const data: Record<string, unknown> = {};
    for (const part of parts) {
      if (Object.hasOwn(data, part.key)) {
        return fault(part.line + 2, "is not valid YAML (a key is there twice)");
      }
      const read = await this.#readPart(part.text);
      if (!read.ok) return fault(part.line + read.line, read.reason);
      data[part.key] = read.data[part.key];
    }
    return { ok: true, data };
  }

  async #readPart(text: string): Promise<Mapping | Fault> {
    const known = this.#remembered.get(text);
    if (known !== undefined) return known;
    const read = await parseYaml(text);
    if (this.#remembered.size < MAX_REMEMBERED) {
      this.#remembered.set(text, read);
    }
    return read;
  }
}

/**
 * The head by its top-level keys; `undefined` where it has anything but plain
 * keys at the left margin, which only the whole can be parsed with.
 */
function splitHead(head: string): readonly Part[] | undefined {
  const parts: { key: string; text: string; line: number }[] = [];
  for (const [line, text] of head.split("\n").entries()) {
    const current = parts.at(-1);
    if (/^(?:\s|#|$)/.test(text)) {
      if (current !== undefined) current.text += `${text}\n`;
      else if (text.trim() !== "" && !text.startsWith("#")) return undefined;
      continue;
    }
    const key = /^([A-Za-z][\w-]*):(?:\s|$)/.exec(text)?.[1];
    if (key === undefined) return undefined;
    parts.push({ key, text: `${text}\n`, line });
  }
  return parts.length === 0 ? undefined : parts;
}

async function parseYaml(text: string): Promise<Mapping | Fault> {
  // Seven times faster than `yaml` on the heads of a whole catalogue.
  const { CORE_SCHEMA, EVENT_ALIAS, load, parseEvents } = await import(
    "js-yaml"
  );
  try {
    // Most heads have nothing that could be one, and need no second reading.
    const hasAlias = /(?:^|[\s[{,])\*\S/.test(text) &&
      parseEvents(text, {}).some((event) => event.type === EVENT_ALIAS);
    if (hasAlias) return fault(2, "uses YAML aliases, which are not read");
    const value: unknown = load(text, { schema: CORE_SCHEMA });
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { ok: true, data: value as Readonly<Record<string, unknown>> }
      : fault(2, "has a frontmatter that is not a mapping");
  } catch (error) {
    return fault(lineOf(error) + 2, `is not valid YAML (${reasonOf(error)})`);
  }
}

/** 0-based, within the text. */
function lineOf(error: unknown): number {
  const line = (error as { readonly mark?: { readonly line?: unknown } }).mark
    ?.line;
  return typeof line === "number" ? line : 0;
}

function reasonOf(error: unknown): string {
  const reason = (error as { readonly reason?: unknown }).reason;
  return typeof reason === "string"
    ? reason.replace(/[^\x20-\x7e]/g, " ").slice(0, 120)
    : "not readable";
}

function fault(line: number, reason: string): Fault {
  return { ok: false, line, reason };
}
