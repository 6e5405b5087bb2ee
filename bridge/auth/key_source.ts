/** Where verification keys come from: what the authenticator asks of a key set. */
import type { DependencyStatus } from "../types.ts";
import type { VerificationKey } from "./verification_key.ts";

/** What a {@link KeySource.refetch} brought. */
export interface RefetchedKeys {
  readonly keys: readonly VerificationKey[];
  /** Set where the refetch was put off, with the seconds until the next one may run. */
  readonly retryAfterSeconds?: number;
}

/** A set of keys that may change while the bridge runs. */
export interface KeySource {
  /**
   * The keys as last fetched, never older than the source's maximum age.
   *
   * @throws {BridgeError} `KEYS_UNAVAILABLE`.
   */
  current(
    signal?: AbortSignal,
  ): readonly VerificationKey[] | Promise<readonly VerificationKey[]>;
  /**
   * Fetches again, for a token that no current key verifies. Limited in rate,
   * since anyone can send such tokens.
   *
   * @throws {BridgeError} `KEYS_UNAVAILABLE`.
   */
  refetch(signal?: AbortSignal): Promise<RefetchedKeys>;
  /** Whether keys can be had, in words for `/readyz`. */
  status(signal: AbortSignal): Promise<DependencyStatus>;
}
