/** From a request in natural language to a workflow of the catalogue, or to nothing. */
import type MiniSearch from "minisearch";
import type { Route } from "../../types.ts";
import { NO_MATCH } from "../cuo/results.ts";
import type { Catalogue, CatalogueWorkflow } from "./catalogue.ts";
import { splitWords, stem, stemsOf } from "./words.ts";

/** Finds workflows by what people say. */
export interface Router {
  route(query: string): Route;
}

const MAX_ALTERNATES = 3;
/** An alternate scores at least this part of the best; the next best is one in any case. */
const ALTERNATE_SHARE = 0.3;
/** Below it nothing fits. */
const MIN_CONFIDENCE = 0.25;
/** One word alone must make up this part of the request, or of the workflow's name. */
const MIN_SHARE_OF_ONE_WORD = 0.5;
const SYNONYM_WEIGHT = 0.7;

interface Entry {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly terms: string;
  readonly persona: string;
}

interface Query {
  /** Stems of the request itself. */
  readonly own: ReadonlySet<string>;
  /** Stems that synonyms add. */
  readonly added: ReadonlySet<string>;
  /** Own stems that a synonym stands for, with the stems it adds. */
  readonly meant: ReadonlyMap<string, readonly string[]>;
}

/** Builds the index: about 220 workflows, some ten milliseconds. */
export async function createRouter(catalogue: Catalogue): Promise<Router> {
  const { default: Index } = await import("minisearch");
  const index = new Index<Entry>({
    fields: ["slug", "title", "description", "terms", "persona"],
    tokenize: (text) => [...splitWords(text)],
    processTerm: (word) => stem(word),
  });
  const entries = [...entriesOf(catalogue)];
  index.addAll(entries);
  return new IndexRouter(index, entries, synonymsOf(catalogue));
}

function* entriesOf(catalogue: Catalogue): Generator<Entry> {
  for (const persona of catalogue.personas.values()) {
    for (const workflow of persona.workflows) {
      yield {
        id: `${persona.slug}/${workflow.slug}`,
        slug: workflow.slug,
        title: workflow.title,
        description: workflow.description,
        terms: termsOf(workflow),
        persona: `${persona.slug} ${persona.title} ${initials(persona.slug)}`,
      };
    }
  }
}

function termsOf(workflow: CatalogueWorkflow): string {
  const { inputs, outputs, skillChain } = workflow;
  return [...inputs, ...outputs, ...skillChain].join(" ")
    .replace(/-(author|audit)\b/g, "");
}

function initials(slug: string): string {
  return slug.split("-").map((word) => word.charAt(0)).join("");
}

interface Synonym {
  /** What the phrase is made of; all of it must be in the request, in whatever order and form. */
  readonly own: readonly string[];
  readonly added: readonly string[];
}

function synonymsOf(catalogue: Catalogue): readonly Synonym[] {
  return Object.entries(catalogue.synonyms).map(([phrase, terms]) => ({
    own: stemsOf(phrase),
    added: stemsOf(terms.join(" ")),
  }));
}

class IndexRouter implements Router {
  readonly #index: MiniSearch<Entry>;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #synonyms: readonly Synonym[];
  readonly #frequency = new Map<string, number>();

  constructor(
    index: MiniSearch<Entry>,
    entries: readonly Entry[],
    synonyms: readonly Synonym[],
  ) {
    this.#index = index;
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.#synonyms = synonyms;
    for (const entry of entries) {
      const stems = stemsOf(Object.values(entry).join(" "));
      for (const word of stems) {
        this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1);
      }
    }
  }

  route(text: string): Route {
    const query = this.#expand(text);
    if (query.own.size === 0) return NO_MATCH;
    const found = this.#search(query);
    const [best] = found;
    if (best === undefined) return NO_MATCH;
    const confidence = this.#confidence(query, best, found[1]?.score ?? 0);
    const alternates = found.slice(1, 1 + MAX_ALTERNATES)
      .filter(({ score }, place) =>
        place === 0 || score >= best.score * ALTERNATE_SHARE
      )
      .map(({ id }) => id);
    if (confidence < MIN_CONFIDENCE) return { ...NO_MATCH, alternates: [] };
    const [persona, workflow] = best.id.split("/");
    return {
      persona: persona!,
      workflow: workflow!,
      confidence,
      alternates,
      rationale: rationale(query, best),
    };
  }

  #expand(text: string): Query {
    const own = new Set(stemsOf(text));
    const added = new Set<string>();
    const meant = new Map<string, readonly string[]>();
    for (const synonym of this.#synonyms) {
      const { own: phrase } = synonym;
      const said = phrase.length > 0 && phrase.every((word) => own.has(word));
      if (!said) continue;
      for (const word of synonym.added) if (!own.has(word)) added.add(word);
      for (const word of synonym.own) meant.set(word, synonym.added);
    }
    return { own, added, meant };
  }

  #search(query: Query): readonly Hit[] {
    const terms = [...query.own, ...query.added];
    return this.#index.search(terms.join(" "), {
      boost: { slug: 3, title: 3, terms: 1.5, persona: 0.8 },
      boostTerm: (term) => query.own.has(term) ? 1 : SYNONYM_WEIGHT,
      tokenize: (text) => text.split(" "),
      processTerm: (term) => term,
      prefix: (term) => query.own.has(term) && term.length >= 5,
      fuzzy: (term) =>
        term.length >= 6 && !this.#frequency.has(term) ? 0.2 : false,
      weights: { prefix: 0.3, fuzzy: 0.3 },
    }).map(({ id, score, match, queryTerms }) => ({
      id: id as string,
      score,
      matched: new Set(queryTerms),
      words: new Set(Object.keys(match)),
    }));
  }

  /**
   * How much of the request the workflow's words cover, how much of the
   * workflow's own name the request covers, and how far the next one is behind.
   */
  #confidence(query: Query, best: Hit, second: number): number {
    const entry = this.#entries.get(best.id)!;
    const covered = this.#share(
      [...query.own],
      (word) =>
        best.matched.has(word) ||
        (query.meant.get(word)?.some((term) => best.matched.has(term)) ??
          false),
    );
    const named = this.#share(
      stemsOf(`${entry.slug} ${entry.title}`),
      (word) => best.words.has(word),
    );
    const words = [...query.own, ...query.added]
      .filter((word) => best.matched.has(word)).length;
    if (words < 2 && Math.max(covered, named) < MIN_SHARE_OF_ONE_WORD) return 0;
    const ahead = 1 - second / best.score;
    const fit = 0.62 * covered + 0.48 * named;
    return round(Math.min(0.98, fit * (0.85 + 0.15 * ahead)));
  }

  /** The part of the words, weighed by how rare they are, for which the condition holds. */
  #share(
    words: readonly string[],
    holds: (word: string) => boolean,
  ): number {
    let all = 0;
    let held = 0;
    for (const word of words) {
      const weight = this.#rarity(word);
      all += weight;
      if (holds(word)) held += weight;
    }
    return all === 0 ? 0 : held / all;
  }

  #rarity(word: string): number {
    const count = this.#frequency.get(word) ?? 0;
    return Math.log(1 + this.#entries.size / (1 + count));
  }
}

interface Hit {
  readonly id: string;
  readonly score: number;
  /** Words of the query that were found. */
  readonly matched: ReadonlySet<string>;
  /** Words of the workflow in which they were found. */
  readonly words: ReadonlySet<string>;
}

function rationale(query: Query, best: Hit): string {
  const words = [...query.own, ...query.added]
    .filter((word) => best.matched.has(word)).slice(0, 8);
  return `Matched on: ${words.join(", ")}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
