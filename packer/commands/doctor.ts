/** `cyberos-plugin doctor`: may a bundle from a stranger be installed? */
import { parseArgs } from "node:util";
import { type Examination, examineBundle } from "../doctor/examine.ts";
import type { DoctorOptions } from "../doctor/evidence.ts";
import {
  EXIT,
  exitCodeOf,
  printable,
  reportJson,
  reportText,
} from "../doctor/report.ts";
import { displayJson } from "../display.ts";
import { PackerError } from "../errors.ts";
import {
  type IdentityPolicy,
  MAX_POLICY_BYTES,
  parsePolicy,
  policyOf,
} from "../sigstore/policy.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { loadTrustedRoot, readSmallText } from "./trusted_root_file.ts";

const HELP = `cyberos-plugin doctor: examine a bundle from a stranger

Usage: cyberos-plugin doctor BUNDLE [OPTIONS]

BUNDLE is a .plugin or .zip file of any host, or the folder it was unpacked to.
Nothing is written, unpacked or run; reading the bundle is all it takes.

Options:
  --certificate-identity ID        who must have signed: the certificate's subject, whole
  --certificate-oidc-issuer URL    who must have vouched for that; needed with the above
  --policy FILE                    the same from a file, for several signers
  --require-identity               fail when neither of these is given
  --trusted-root FILE              believe this Sigstore trusted root too; may be repeated
  --online                         ask the transparency log whether it has the entry
  --rekor-url URL                  where to ask, instead of the trusted root's address
  --json                           print the report as JSON

Exit codes:
  0   all 8 invariants hold
  1   at least one does not: do not install
  2   wrong usage
  3   could not verify: unreadable bundle, trusted root or policy, or a silent log
  70  a bug in this program

Every verdict is explained in docs/doctor.md.
`;

/** The subcommand. */
export const command: Command = {
  name: "doctor",
  summary: "examine a bundle from a stranger",
  help: HELP,
  run,
};

interface Flags {
  readonly bundle: string;
  readonly identity?: string;
  readonly issuer?: string;
  readonly policyFile?: string;
  readonly requireIdentity: boolean;
  readonly trustedRoots: readonly string[];
  readonly online: boolean;
  readonly rekorUrl?: string;
  readonly json: boolean;
}

async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const flags = parseFlags(args);
  const policy = policyOfFlags(flags);
  try {
    const options = await loadOptions(flags, policy);
    const examination = await examineBundle(flags.bundle, options);
    await terminal.stdout(show(flags, examination));
    return exitCodeOf(examination);
  } catch (error) {
    if (!(error instanceof PackerError)) throw error;
    return await couldNotVerify(error, flags, terminal);
  }
}

function show(flags: Flags, examination: Examination): string {
  return flags.json
    ? displayJson(reportJson(flags.bundle, examination))
    : reportText(flags.bundle, examination);
}

/** "Invalid" and "could not tell" must not look alike to a script. */
async function couldNotVerify(
  error: PackerError,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const hint = error.hint === undefined ? "" : `\n  ${error.hint}`;
  const message = printable(`Could not verify: ${error.message}`);
  await terminal.stderr(`cyberos-plugin doctor: ${message}${hint}\n`);
  if (flags.json) {
    const { code, message } = error;
    const report = {
      ok: false,
      exit_code: EXIT.unverified,
      bundle: flags.bundle,
      error: { code, message },
    };
    await terminal.stdout(displayJson(report));
  }
  return EXIT.unverified;
}

function parseFlags(args: readonly string[]): Flags {
  const { values, positionals } = parseOrThrow(args);
  const [bundle, ...more] = positionals;
  if (bundle === undefined || more.length > 0) {
    throw new UsageError("Give exactly one bundle");
  }
  const identity = values["certificate-identity"];
  const issuer = values["certificate-oidc-issuer"];
  if (
    values.policy !== undefined &&
    (identity !== undefined || issuer !== undefined)
  ) {
    throw new UsageError(
      "Give --policy or the --certificate-… options, not both",
    );
  }
  if (values["rekor-url"] !== undefined) requireUrl(values);
  return {
    bundle,
    ...(identity !== undefined && { identity }),
    ...(issuer !== undefined && { issuer }),
    ...(values.policy !== undefined && { policyFile: values.policy }),
    requireIdentity: values["require-identity"] ?? false,
    trustedRoots: values["trusted-root"] ?? [],
    online: values.online ?? false,
    ...(values["rekor-url"] !== undefined &&
      { rekorUrl: values["rekor-url"] }),
    json: values.json ?? false,
  };
}

function parseOrThrow(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        "certificate-identity": { type: "string" },
        "certificate-oidc-issuer": { type: "string" },
        policy: { type: "string" },
        "require-identity": { type: "boolean" },
        "trusted-root": { type: "string", multiple: true },
        online: { type: "boolean" },
        "rekor-url": { type: "string" },
        json: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "Bad option");
  }
}

function requireUrl(
  values: { readonly "rekor-url"?: string; readonly online?: boolean },
): void {
  if (!values.online) throw new UsageError("--rekor-url needs --online");
  const url = URL.parse(values["rekor-url"] ?? "");
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new UsageError("--rekor-url must be an http or https URL");
  }
}

function policyOfFlags(flags: Flags): IdentityPolicy | undefined {
  try {
    return policyOf(flags.identity, flags.issuer);
  } catch (error) {
    if (!(error instanceof PackerError)) throw error;
    throw new UsageError(error.message);
  }
}

async function loadOptions(
  flags: Flags,
  flagPolicy: IdentityPolicy | undefined,
): Promise<DoctorOptions> {
  const policy = flags.policyFile === undefined ? flagPolicy : parsePolicy(
    await readSmallText(flags.policyFile, MAX_POLICY_BYTES, "POLICY_INVALID"),
  );
  return {
    trustedRoots: await Promise.all(flags.trustedRoots.map(loadTrustedRoot)),
    ...(policy && { policy }),
    requireIdentity: flags.requireIdentity,
    ...(flags.online && {
      online: { fetch, ...(flags.rekorUrl && { rekorUrl: flags.rekorUrl }) },
    }),
  };
}
