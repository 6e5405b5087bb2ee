/** The skill catalogue of the operator: a broker, or a folder. */
import { BridgeError } from "../../errors.ts";
import type { Clock, Logger, Skills, Telemetry } from "../../ports.ts";
import { SKILL_FOLDERS } from "../common/checkout_layout.ts";
import type { Credential, Fetch } from "../common/rest_client.ts";
import { BrokerSkills } from "./broker.ts";
import { FolderLibrary } from "./folder_library.ts";
import type { SkillLibrary } from "./library.ts";
import { LibrarySkills } from "./library_skills.ts";

/** What {@link createSkills} needs. */
export interface SkillsOptions {
  /** `SKILL_BROKER_ENDPOINT`; wins over folders. */
  readonly brokerEndpoint?: string;
  /** The bridge's own credential for the broker; never a caller's token. */
  readonly token?: Credential;
  readonly fetch?: Fetch;
  /** `CYBEROS_SKILLS_DIR`. */
  readonly directory?: string;
  /** `CYBEROS_ROOT`: a checkout of CyberOS. */
  readonly root?: string;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Creates the port. Nothing is read or sent before the first call. */
export function createSkills(options: SkillsOptions): Skills {
  const { telemetry, log, brokerEndpoint } = options;
  if (brokerEndpoint !== undefined) {
    return new BrokerSkills({ ...options, endpoint: brokerEndpoint });
  }
  const library = folderLibrary(options);
  return library === undefined
    ? notConfigured()
    : new LibrarySkills({ library, telemetry, log });
}

/** The library over the folder that is configured, if one is. */
export function folderLibrary(
  { directory, root }: Pick<SkillsOptions, "directory" | "root">,
): SkillLibrary | undefined {
  if (directory !== undefined) {
    return new FolderLibrary({ candidates: [directory], reportBare: true });
  }
  if (root === undefined) return undefined;
  return new FolderLibrary({
    candidates: checkoutFolders(root),
    reportBare: false,
  });
}

/** Where a checkout of CyberOS has its skills, to be tried in turn. */
export function checkoutFolders(root: string): readonly string[] {
  return SKILL_FOLDERS.map((folder) => `${root}/${folder}`);
}

function notConfigured(): Skills {
  const refuse = () =>
    Promise.reject(
      new BridgeError(
        "UPSTREAM_NOT_CONFIGURED",
        "No skill catalogue is configured",
        {
          hint:
            "Set SKILL_BROKER_ENDPOINT to a skill broker, or CYBEROS_SKILLS_DIR to a folder of skills (or CYBEROS_ROOT to a checkout of CyberOS), then restart the bridge. To try CyberOS without an installation, start the bridge with --embedded.",
        },
      ),
    );
  return {
    list: refuse,
    invoke: refuse,
    status: () =>
      Promise.resolve({
        name: "skills",
        state: "not configured",
        detail: "set SKILL_BROKER_ENDPOINT, CYBEROS_SKILLS_DIR or CYBEROS_ROOT",
      }),
    close: () => Promise.resolve(),
  };
}
