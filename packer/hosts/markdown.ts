/** Takes an author's Markdown file apart and writes one for a host. */
import { readFrontmatter } from "../../schema/files/frontmatter.ts";
import { PackerError } from "../errors.ts";
import type { HostInput } from "./host.ts";

/** A command's file, as far as hosts need it. */
export interface CommandText {
  readonly description: string;
  /** Phrases that call for it. */
  readonly triggers: readonly string[];
  /** From the first line of text on. */
  readonly body: string;
}

/**
 * Reads a command's file.
 *
 * @throws {PackerError} `ENTRY_REFUSED` where its frontmatter cannot be read.
 */
export async function readCommand(
  { files }: HostInput,
  path: string,
): Promise<CommandText> {
  const bytes = await files.get(path)?.read();
  const { value, body, faults } = await readFrontmatter(
    new TextDecoder().decode(bytes),
  );
  const { description, triggers } = value;
  const [fault] = faults;
  if (fault !== undefined || typeof description !== "string") {
    throw new PackerError(
      "ENTRY_REFUSED",
      `Cannot read the frontmatter of "${path}": ${
        fault?.message ?? "it has no description"
      }`,
      { hint: fault?.advice ?? 'Add a line description: "…"' },
    );
  }
  return {
    description,
    triggers: Array.isArray(triggers)
      ? triggers.filter((phrase) => typeof phrase === "string")
      : [],
    body: body.replace(/^\n+/, ""),
  };
}

/**
 * A Markdown file with frontmatter. Every value is a double-quoted scalar, which
 * YAML reads back to the letter whatever is in it.
 */
export function markdown(
  fields: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries(fields).map(([key, value]) =>
    `${key}: ${quoted(value)}\n`
  );
  return `---\n${lines.join("")}---\n\n${body}`;
}

// JSON's text form is a YAML double-quoted scalar but for these two line ends.
function quoted(value: string): string {
  return JSON.stringify(value)
    .replace(
      /[\u0085\u2028\u2029]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
