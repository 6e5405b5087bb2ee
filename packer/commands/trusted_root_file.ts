/** Reads the file of a `--trusted-root` option. */
import { reasonOf } from "../disk/read.ts";
import { PackerError } from "../errors.ts";
import {
  MAX_TRUSTED_ROOT_BYTES,
  type TrustedRootSource,
} from "../sigstore/trusted_root.ts";

/** @throws {PackerError} `TRUST_ROOT_INVALID` */
export async function loadTrustedRoot(
  path: string,
): Promise<TrustedRootSource> {
  const text = await readSmallText(
    path,
    MAX_TRUSTED_ROOT_BYTES,
    "TRUST_ROOT_INVALID",
  );
  try {
    return { name: path, json: JSON.parse(text) };
  } catch (cause) {
    throw new PackerError(
      "TRUST_ROOT_INVALID",
      `Cannot use trusted root "${path}": it is not JSON`,
      { cause },
    );
  }
}

const HINTS = {
  POLICY_INVALID: "Give a policy file; docs/signing.md shows one",
  TRUST_ROOT_INVALID: "Give a Sigstore trusted root, a JSON file",
} as const;

/** A small text file. @throws {PackerError} With the given code. */
export async function readSmallText(
  path: string,
  maxBytes: number,
  code: "POLICY_INVALID" | "TRUST_ROOT_INVALID",
): Promise<string> {
  try {
    const { size } = await Deno.stat(path);
    if (size > maxBytes) {
      throw new PackerError(code, `"${path}" is over ${maxBytes} bytes`);
    }
    return await Deno.readTextFile(path);
  } catch (cause) {
    if (cause instanceof PackerError) throw cause;
    throw new PackerError(
      code,
      `Cannot read "${path}": ${reasonOf(cause)}`,
      { cause, hint: HINTS[code] },
    );
  }
}
