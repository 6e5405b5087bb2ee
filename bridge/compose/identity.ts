/** Who may call: the authenticator, and the caller on stdio. */
import { ALL_SCOPES } from "../../schema/tools.ts";
import {
  type AuthenticatorOptions,
  createAuthenticator,
} from "../auth/authenticator.ts";
import { createRemoteKeys } from "../auth/jwks.ts";
import { createFileKeyStore, createMemoryKeyStore } from "../auth/key_store.ts";
import { createLocalIssuer, type LocalIssuer } from "../auth/local_issuer.ts";
import { createStdioTokenReader } from "../auth/stdio_token.ts";
import type { BridgeConfig } from "../config/settings.ts";
import { BridgeError } from "../errors.ts";
import type { Authenticator, Clock, Confirmations } from "../ports.ts";
import type { Principal } from "../types.ts";

/** The tenant of embedded mode: one machine, one person, one tenant. */
export const EMBEDDED_TENANT = "00000000-0000-4000-8000-000000000001";

/** The subject of embedded mode on stdio. */
export const EMBEDDED_SUBJECT = "local-developer";

/** Everything about callers. */
export interface Identity {
  readonly authenticator: Authenticator;
  readonly confirmations: () => Promise<Confirmations>;
  /** In embedded mode only. */
  readonly localIssuer: LocalIssuer | undefined;
}

/** What {@link createIdentity} needs. */
export interface IdentityOptions {
  readonly config: BridgeConfig;
  readonly clock: Clock;
  /** The embedded data folder; `undefined` keeps the embedded key in memory. */
  readonly dataDir: string | undefined;
  /** This bridge's resource URLs: its own address too, once it listens. */
  readonly resourceUrls: () => readonly string[];
}

/** Creates the authenticator; no key is read or fetched before the first token. */
export function createIdentity(options: IdentityOptions): Identity {
  const { config, clock } = options;
  const localIssuer = config.embedded
    ? createEmbeddedIssuer(options)
    : undefined;
  const jwksUrl = config.jwksUrl ??
    `${config.authIssuer.replace(/\/$/, "")}/.well-known/jwks.json`;
  const judge: AuthenticatorOptions = {
    issuer: localIssuer?.issuer ?? config.authIssuer,
    pluginId: config.pluginId,
    resourceUrls: options.resourceUrls,
    keys: localIssuer?.keys ?? createRemoteKeys({ url: jwksUrl, clock }),
    clock,
    algorithms: config.jwtAlgorithms,
    clockToleranceSeconds: config.clockSkewSeconds,
    memoEntries: config.maxRememberedSignatures,
  };
  let confirmations: Promise<Confirmations> | undefined;
  return {
    authenticator: createAuthenticator(judge),
    confirmations: () =>
      confirmations ??= import("../auth/confirmations.ts")
        .then(({ createConfirmations }) => createConfirmations(judge)),
    localIssuer,
  };
}

/** The issuer of embedded mode; bridges on one data folder have one key. */
export function createEmbeddedIssuer(
  { config, clock, dataDir }: Pick<
    IdentityOptions,
    "config" | "clock" | "dataDir"
  >,
): LocalIssuer {
  const store = dataDir === undefined
    ? createMemoryKeyStore()
    : createFileKeyStore(`${dataDir}/issuer-key.json`);
  return createLocalIssuer({ store, pluginId: config.pluginId, clock });
}

/** Gives the caller on stdio, asked anew for each request. */
export function stdioPrincipal(
  config: BridgeConfig,
  authenticator: Authenticator,
): () => Promise<Principal> {
  const readToken = createStdioTokenReader({
    env: (name) => {
      // The launcher made the file's path absolute; a token is read as it is now.
      if (name === "CYBEROS_TOKEN_FILE") return config.tokenFile;
      return config.accessToken === undefined ? undefined : Deno.env.get(name);
    },
    readFile: (path) => Deno.readTextFile(path),
  });
  return async () => {
    const token = await readToken();
    if (token !== undefined) return await authenticator.authenticate(token);
    if (config.embedded) return localDeveloper();
    throw new BridgeError("TOKEN_MISSING", "The call carries no access token", {
      hint:
        "Sign in to CyberOS and set CYBEROS_TOKEN_FILE (or CYBEROS_ACCESS_TOKEN) in the environment that the host gives this server, or start it with --embedded for a first try",
    });
  };
}

function localDeveloper(): Principal {
  return {
    subject: EMBEDDED_SUBJECT,
    tenantId: EMBEDDED_TENANT,
    scopes: new Set(ALL_SCOPES),
  };
}
