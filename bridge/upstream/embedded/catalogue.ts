/** The catalogue that travels with the bridge: personas, workflows, skills, synonyms. */
import type { Persona, Workflow } from "../../types.ts";

/** A workflow of the catalogue. */
export interface CatalogueWorkflow extends Workflow {
  readonly title: string;
  readonly description: string;
}

/** A persona of the catalogue. */
export interface CataloguePersona extends Persona {
  readonly description: string;
  readonly workflows: readonly CatalogueWorkflow[];
}

/** A skill of the catalogue. */
export interface CatalogueSkill {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly description: string;
  /** `written` by hand or `derived` by kind. */
  readonly origin: string;
  readonly instructions: string;
}

/** Everything, read once. */
export interface Catalogue {
  /** Active personas by slug. */
  readonly personas: ReadonlyMap<string, CataloguePersona>;
  readonly skills: ReadonlyMap<string, CatalogueSkill>;
  /** What else people say for it: phrase → terms of the catalogue. */
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
}

interface PersonaRow {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly status: string;
  readonly workflows: readonly {
    readonly slug: string;
    readonly title: string;
    readonly description: string;
    readonly cadence: string;
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
    readonly skill_chain: readonly string[];
  }[];
}

/** Reads the catalogue; it is part of the program, so this cannot fail at a user's. */
export async function loadCatalogue(): Promise<Catalogue> {
  const [personas, skills, synonyms] = await Promise.all([
    import("../../../manifests/catalog/personas.json", {
      with: { type: "json" },
    }),
    import("../../../manifests/catalog/skills.json", {
      with: { type: "json" },
    }),
    import("../../../manifests/catalog/synonyms.json", {
      with: { type: "json" },
    }),
  ]);
  return createCatalogue({
    personas: personas.default.personas,
    skills: skills.default.skills,
    synonyms: synonyms.default.synonyms,
  });
}

/** The catalogue from its rows. */
export function createCatalogue(rows: {
  readonly personas: readonly PersonaRow[];
  readonly skills: readonly CatalogueSkill[];
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
}): Catalogue {
  return {
    // A persona that is extinct is kept in the data as a lesson, not offered.
    personas: new Map(
      rows.personas.filter(({ status }) => status === "shipped")
        .map((row) => [row.slug, toPersona(row)]),
    ),
    skills: new Map(rows.skills.map((skill) => [skill.id, skill])),
    synonyms: rows.synonyms,
  };
}

function toPersona(row: PersonaRow): CataloguePersona {
  return {
    slug: row.slug,
    title: row.title,
    description: row.description,
    status: row.status,
    workflowCount: row.workflows.length,
    workflows: row.workflows.map((workflow) => ({
      slug: workflow.slug,
      title: workflow.title,
      description: workflow.description,
      cadence: workflow.cadence,
      inputs: workflow.inputs,
      outputs: workflow.outputs,
      skillChain: workflow.skill_chain,
    })),
  };
}
