/**
 * What a checkout of CyberOS says of its workflows beyond `list-workflows`:
 * purpose, inputs, outputs and the skills of the chain, from the head of
 * `modules/cuo/<persona>/workflows/<workflow>.md`.
 */
import type { Workflow } from "../../types.ts";
import { PERSONA_FOLDERS } from "../common/checkout_layout.ts";
import { FrontmatterReader } from "../common/frontmatter.ts";

const MAX_FILE_BYTES = 256 * 1024;
const MAX_ITEMS = 256;

/** The workflows with what their files tell; as they are where there is no file to read. Never rejects. */
export async function readCheckout(
  root: string,
  persona: string,
  workflows: readonly Workflow[],
): Promise<readonly Workflow[]> {
  const reader = new FrontmatterReader();
  return await Promise.all(
    workflows.map((workflow) =>
      enrich(`${persona}/workflows/${workflow.slug}`, workflow, {
        root,
        reader,
      })
    ),
  );
}

async function enrich(
  name: string,
  workflow: Workflow,
  { root, reader }: {
    readonly root: string;
    readonly reader: FrontmatterReader;
  },
): Promise<Workflow> {
  for (const layout of PERSONA_FOLDERS) {
    const text = await readSmall(`${root}/${layout}/${name}.md`);
    if (text === undefined) continue;
    const head = await reader.read(text);
    return head.ok ? merge(workflow, head.data) : workflow;
  }
  return workflow;
}

async function readSmall(path: string): Promise<string | undefined> {
  try {
    const info = await Deno.lstat(path);
    if (!info.isFile || info.size > MAX_FILE_BYTES) return undefined;
    return await Deno.readTextFile(path);
  } catch {
    return undefined;
  }
}

function merge(
  workflow: Workflow,
  head: Readonly<Record<string, unknown>>,
): Workflow {
  const purpose = head["purpose"];
  return {
    ...workflow,
    ...(typeof purpose === "string"
      ? { description: purpose.trim().slice(0, 1024) }
      : {}),
    inputs: names(head["inputs"], "name"),
    outputs: names(head["outputs"], "name"),
    skillChain: names(head["skill_chain"], "skill"),
  };
}

/** The names in a list of texts or of mappings. */
function names(list: unknown, key: string): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_ITEMS).flatMap((item: unknown) => {
    const name = typeof item === "object" && item !== null
      ? (item as Record<string, unknown>)[key]
      : item;
    return typeof name === "string" && name.length <= 256 ? [name] : [];
  });
}
