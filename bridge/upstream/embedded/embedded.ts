/** All three upstreams in this process, for a first try, for authors and for tests (decision D10). */
import type {
  Clock,
  Logger,
  SqlDriver,
  Telemetry,
  Upstreams,
} from "../../ports.ts";
import { orAbort } from "../common/deadline.ts";
import { createMemory } from "../memory/memory.ts";
import type { SkillLibrary, SkillText } from "../skills/library.ts";
import { LibrarySkills } from "../skills/library_skills.ts";
import { folderLibrary } from "../skills/skills.ts";
import { type Catalogue, loadCatalogue } from "./catalogue.ts";
import { CatalogueLibrary, toSkillText } from "./catalogue_library.ts";
import { EmbeddedCuo } from "./embedded_cuo.ts";
import { createMemoryService } from "./memory_service.ts";

/** What {@link createEmbedded} needs. */
export interface EmbeddedOptions {
  /** The database with all migrations, opened on first use. */
  readonly sql: () => Promise<SqlDriver>;
  /** `CYBEROS_SKILLS_DIR`: skills from a folder instead of the catalogue. */
  readonly skillsDirectory?: string;
  /** `CYBEROS_ROOT`: skills from a checkout of CyberOS instead of the catalogue. */
  readonly root?: string;
  readonly pluginId: string;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Never resolved by anybody: the service answers in this process. */
const ENDPOINT = "http://memory.embedded.invalid/";
/** The first call may have to wait for the database to be made. */
const MEMORY_TIMEOUT_MS = 30_000;

/** Creates the upstreams. Nothing is read or opened before the first call. */
export function createEmbedded(options: EmbeddedOptions): Upstreams {
  const { telemetry, log, clock, sql, pluginId } = options;
  const catalogue = once(loadCatalogue);
  const token = crypto.randomUUID();
  const service = createMemoryService({ sql, token, log });
  const memory = createMemory({
    endpoint: ENDPOINT,
    token: () => token,
    // As the network does: who leaves does not wait for the answer.
    fetch: (request) => orAbort(service(request), request.signal),
    timeoutMs: MEMORY_TIMEOUT_MS,
    telemetry,
    log,
    clock,
  });
  const library = libraryOf(options, catalogue);
  const cuo = new EmbeddedCuo({
    catalogue,
    readSkill: (skillId) => readSkill(skillId, library, catalogue),
    memory,
    pluginId,
    telemetry,
  });
  const skills = new LibrarySkills({ library, telemetry, log });
  return { cuo, memory, skills };
}

function libraryOf(
  { skillsDirectory, root }: EmbeddedOptions,
  catalogue: () => Promise<Catalogue>,
): SkillLibrary {
  const folder = folderLibrary({
    ...(skillsDirectory === undefined ? {} : { directory: skillsDirectory }),
    ...(root === undefined ? {} : { root }),
  });
  return folder ?? new CatalogueLibrary(catalogue);
}

/** A folder need not have every skill of every chain: the catalogue's text is better than none. */
async function readSkill(
  skillId: string,
  library: SkillLibrary,
  catalogue: () => Promise<Catalogue>,
): Promise<SkillText | undefined> {
  const text = await library.read(skillId).catch(() => undefined);
  if (text !== undefined) return text;
  const skill = (await catalogue()).skills.get(skillId);
  return skill === undefined ? undefined : toSkillText(skill);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}
