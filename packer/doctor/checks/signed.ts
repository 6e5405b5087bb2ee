/** Invariant 2: a valid signature of exactly this content, by someone we know. */
import { buildStatement } from "../../content.ts";
import { confirmInLog } from "../../sigstore/online.ts";
import { SignatureRefusal } from "../../sigstore/refusal.ts";
import {
  type VerifiedSignature,
  verifySignature,
} from "../../sigstore/verify_signature.ts";
import { builtInRoots } from "../../trust/roots.ts";
import type { Evidence } from "../evidence.ts";
import { fail, type Outcome, pass, unchecked } from "../invariants.ts";

/** Verifies the signature, and asks the log where the caller wants that. */
export async function checkSigned(evidence: Evidence): Promise<Outcome> {
  try {
    const verified = await verify(evidence);
    const issues = evidence.issues.get("signed") ?? [];
    if (issues.length > 0) return fail(...issues);
    evidence.notes.signature = verified;
    await ask(evidence, verified);
    return judgeIdentity(evidence, verified);
  } catch (error) {
    if (!(error instanceof SignatureRefusal)) throw error;
    const { code, message } = error;
    // Silence of the log proves nothing against the bundle.
    return code === "REKOR_UNREACHABLE"
      ? unchecked(message, code)
      : fail({ code, message, jsonPointer: "/signature" });
  }
}

async function verify(evidence: Evidence): Promise<VerifiedSignature> {
  const { manifest, options } = evidence;
  return await verifySignature({
    signature: manifest.signature,
    statement: await buildStatement(evidence),
    roots: [...builtInRoots(), ...options.trustedRoots ?? []],
    ...(options.policy && { policy: options.policy }),
    now: options.now ?? new Date(),
  });
}

async function ask(
  { options, notes }: Evidence,
  verified: VerifiedSignature,
): Promise<void> {
  if (options.online === undefined) return;
  await confirmInLog(verified, options.online);
  notes.confirmedOnline = true;
}

function judgeIdentity(
  { options }: Evidence,
  { signer, identity, trustedRoot }: VerifiedSignature,
): Outcome {
  const who = `By "${signer.identity}" under ${trustedRoot}`;
  if (identity === "trusted") {
    return pass(`${who}, as your policy asks`);
  }
  if (options.requireIdentity) {
    return fail({
      code: "IDENTITY_UNCHECKED",
      message: `${who}; nobody said whether that is the right signer`,
    });
  }
  return pass(`${who}; is that whom you expect?`, "IDENTITY_UNCHECKED");
}
