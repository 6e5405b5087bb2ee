/** Runs `python3` where there is one. */

/** Whether `python3` can be started. */
export const havePython: boolean = await starts("python3");

async function starts(program: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args: ["--version"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}

/** Runs a script and gives what it printed. */
export async function python(
  script: string,
  ...args: string[]
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("python3", {
    args: ["-c", script, ...args],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

/** Reads an archive with Python's `zipfile`, writes it anew at level 6, and prints the new one's SHA-256. */
export const REWRITE = `
import hashlib, io, sys, zipfile
new = io.BytesIO()
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as out:
    for entry in sorted(old.infolist(), key=lambda e: e.filename.encode()):
        info = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
        info.create_system, info.external_attr = 3, entry.external_attr
        out.writestr(info, old.read(entry), zipfile.ZIP_DEFLATED, 6)
print(hashlib.sha256(new.getvalue()).hexdigest())
`;
