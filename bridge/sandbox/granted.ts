/** What of the wished permissions this process has itself: a worker can never get more. */
import type { SandboxPermissions } from "./permissions.ts";

/** The permissions that can be given, and those that the command line withheld. */
export interface Granted {
  readonly permissions: SandboxPermissions;
  /** Such as `net to memory.example:443`. */
  readonly withheld: readonly string[];
}

/** Asks Deno for each wish. Never prompts. */
export function grantedOf(wished: SandboxPermissions): Granted {
  const withheld: string[] = [];
  const keep = (
    values: readonly string[],
    descriptor: (value: string) => Deno.PermissionDescriptor,
    label: string,
  ) =>
    values.filter((value) => {
      if (
        Deno.permissions.querySync(descriptor(value)).state === "granted"
      ) return true;
      withheld.push(`${label} ${value}`);
      return false;
    });
  const permissions = {
    ...wished,
    net: keep(wished.net, (host) => ({ name: "net", host }), "net to"),
    run: keep(wished.run, (command) => ({ name: "run", command }), "run of"),
    read: keep(wished.read, (path) => ({ name: "read", path }), "read of"),
    write: keep(wished.write, (path) => ({ name: "write", path }), "write to"),
    env: keep(
      wished.env,
      (variable) => ({ name: "env", variable }),
      "environment variable",
    ),
  };
  return { permissions, withheld };
}
