/** Where the embedded data goes when nobody says so. */

/**
 * The platform's folder for a program's data: `XDG_DATA_HOME` or
 * `~/.local/share` on Linux, `Application Support` on macOS, `%LOCALAPPDATA%`
 * on Windows.
 *
 * Source: XDG Base Directory Specification 0.8.
 */
export function defaultDataDir(
  env: (name: string) => string | undefined,
  os: string = Deno.build.os,
): string {
  const home = env("HOME") ?? env("USERPROFILE") ?? ".";
  if (os === "windows") return `${env("LOCALAPPDATA") ?? home}\\cyberos`;
  if (os === "darwin") return `${home}/Library/Application Support/cyberos`;
  return `${env("XDG_DATA_HOME") ?? `${home}/.local/share`}/cyberos`;
}
