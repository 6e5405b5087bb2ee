/** Child processes that must succeed. */

/** Runs a program; its stdout, or an error that carries what it said. */
export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    stdin: "null",
    env: { NO_COLOR: "1" },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) {
    throw new Error(
      `${command} ${args[0]} failed:\n${text(stderr)}${text(stdout)}`,
    );
  }
  return text(stdout);
}
