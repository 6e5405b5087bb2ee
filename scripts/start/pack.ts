/** Packing, by the program that authors use. */

/** What `pack --json` prints. */
export interface Packed {
  readonly bundle_path: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly tools_count: number;
  readonly commands_count: number;
  readonly skills_count: number;
  readonly signature: string;
}

/** Packs a manifest for Claude Code; `undefined` when the program refused, which it has explained. */
export async function packShipped(
  manifest: string,
  out: string,
): Promise<Packed | undefined> {
  const { success, stdout } = await new Deno.Command("deno", {
    args: [
      ...[
        "run",
        "--quiet",
        "--no-prompt",
        "--allow-read",
        "--allow-write",
        "cli.ts",
      ],
      ...["pack", manifest, "--target", "claude-code", "--out", out, "--json"],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).output();
  return success
    ? JSON.parse(new TextDecoder().decode(stdout)) as Packed
    : undefined;
}
