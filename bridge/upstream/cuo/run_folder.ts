/** The folder in which a run of the CLI leaves its steps, and what is read of it. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import { checkDepth } from "../common/shape.ts";

const STEP_FILE =
  /^(?:[\w.-]{1,100}_)?step(\d{1,5})_?([a-z0-9._-]{0,128})\.json$/;
const MAX_FILES = 1_000;
const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024;

/** A step's file. */
export interface StepFile {
  readonly step: number;
  readonly skill: string;
  readonly name: string;
}

/** A folder of its own for one run, which nobody else may enter. */
export class RunFolder {
  private constructor(readonly path: string) {}

  /**
   * @param parent Where it is made; the system's folder for temporary files by default.
   * @throws {BridgeError} `UPSTREAM_NOT_CONFIGURED` where the bridge may not write there.
   */
  static async create(parent: string | undefined): Promise<RunFolder> {
    try {
      return new RunFolder(
        await Deno.makeTempDir({
          prefix: "cyberos-run-",
          ...(parent === undefined ? {} : { dir: parent }),
        }),
      );
    } catch (cause) {
      throw new BridgeError(
        "UPSTREAM_NOT_CONFIGURED",
        "The bridge has no folder for the results of cyberos-cuo",
        {
          cause,
          hint:
            "The command-line protocol of cyberos-cuo writes its results to files: the operator must let the bridge read and write a work folder, or use CYBEROS_CUO_PROTOCOL=jsonrpc.",
        },
      );
    }
  }

  /** The steps that have left a file, in order. Never rejects. */
  async steps(): Promise<readonly StepFile[]> {
    const found: StepFile[] = [];
    try {
      for await (const entry of Deno.readDir(this.path)) {
        const match = entry.isFile ? STEP_FILE.exec(entry.name) : null;
        if (match === null) continue;
        found.push({
          step: Number(match[1]),
          skill: match[2]!,
          name: entry.name,
        });
        if (found.length >= MAX_FILES) break;
      }
    } catch {
      return [];
    }
    return found.sort((a, b) => a.step - b.step || (a.name < b.name ? -1 : 1));
  }

  /**
   * The steps' outputs, as far as the bounds allow; what does not fit or is no
   * JSON is named without its content.
   */
  async artifacts(): Promise<readonly JsonObject[]> {
    let left = MAX_TOTAL_BYTES;
    const artifacts: JsonObject[] = [];
    for (const file of await this.steps()) {
      const about = { step: file.step, skill: file.skill };
      const read = await this.#read(file.name, Math.min(left, MAX_FILE_BYTES));
      left -= read.bytes;
      artifacts.push(
        read.value === undefined
          ? { ...about, omitted: read.why }
          : { ...about, output: read.value },
      );
    }
    return artifacts;
  }

  /** Deletes the folder and all in it. Never rejects. */
  async remove(): Promise<void> {
    await Deno.remove(this.path, { recursive: true }).catch(() => {});
  }

  async #read(
    name: string,
    maxBytes: number,
  ): Promise<
    {
      readonly bytes: number;
      readonly value?: JsonValue;
      readonly why: string;
    }
  > {
    try {
      const path = `${this.path}/${name}`;
      // lstat: a link that the program left could point at any file of this machine.
      const info = await Deno.lstat(path);
      if (!info.isFile) return { bytes: 0, why: "not a file" };
      if (info.size > maxBytes) return { bytes: 0, why: "too large" };
      const value = JSON.parse(await Deno.readTextFile(path)) as JsonValue;
      checkDepth(value, name);
      return { bytes: info.size, value, why: "" };
    } catch {
      return { bytes: 0, why: "not readable as JSON" };
    }
  }
}
