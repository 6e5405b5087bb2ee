/** Writes a file so that there is the whole of it or none of it. */
import { PackerError } from "../errors.ts";
import type { ZipSink } from "../zip/writer.ts";
import { reasonOf } from "./read.ts";

/**
 * Writes to a temporary file in the same folder, brings it to the disk, and
 * gives it its name. What had the name stays as it was until then, and for good
 * if anything fails.
 *
 * @param folder Made if it is not there.
 * @param write Writes all; what it returns is returned.
 * @throws {PackerError} `OUTPUT_UNWRITABLE`, and what `write` throws.
 */
export async function writeAtomically<Result>(
  folder: string,
  name: string,
  write: (sink: ZipSink) => Promise<Result>,
): Promise<{ path: string; result: Result }> {
  const path = `${folder.replace(/(?<=.)[/\\]+$/, "")}/${name}`;
  const temporary = `${folder}/.${name}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  const file = await create(folder, temporary);
  let done = false;
  try {
    const result = await fill(file, write, folder);
    await publish(temporary, path);
    done = true;
    return { path, result };
  } finally {
    if (!done) await Deno.remove(temporary).catch(() => {});
  }
}

async function create(
  folder: string,
  temporary: string,
): Promise<Deno.FsFile> {
  try {
    await Deno.mkdir(folder, { recursive: true });
    return await Deno.open(temporary, { createNew: true, write: true });
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

async function fill<Result>(
  file: Deno.FsFile,
  write: (sink: ZipSink) => Promise<Result>,
  folder: string,
): Promise<Result> {
  try {
    const result = await write({
      write: (bytes) => writeAll(file, bytes, folder),
    });
    await file.sync();
    return result;
  } finally {
    file.close();
  }
}

async function writeAll(
  file: Deno.FsFile,
  bytes: Uint8Array,
  folder: string,
): Promise<void> {
  try {
    for (let at = 0; at < bytes.length;) {
      at += await file.write(bytes.subarray(at));
    }
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

async function publish(temporary: string, path: string): Promise<void> {
  try {
    await Deno.rename(temporary, path);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

function unwritable(place: string, cause: unknown): PackerError {
  return new PackerError(
    "OUTPUT_UNWRITABLE",
    `Cannot write to "${place}": ${reasonOf(cause)}`,
    { cause, hint: "Give another folder by --out" },
  );
}
