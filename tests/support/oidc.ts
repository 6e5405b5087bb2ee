/**
 * A real OpenID provider on a free port, which issues real JWT access tokens:
 * for a machine (client credentials), and for a person (code with PKCE, the
 * person being one who always agrees).
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { TENANT_A } from "./tokens.ts";

/** A running provider. */
export interface OidcProvider {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** An access token for the resource by client credentials. */
  machineToken(scope: string): Promise<string>;
  /** Access and ID token of a person, by authorization code and PKCE. */
  personTokens(
    scope: string,
  ): Promise<{ readonly accessToken: string; readonly idToken: string }>;
  close(): Promise<void>;
}

/** What the provider, which ships no types, gives to a hook of its. */
interface OidcContext {
  readonly client?: { readonly clientId: string };
  readonly session?: { readonly accountId: string };
  readonly provider: {
    readonly Grant: new (parts: Record<string, unknown>) => {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
  };
}

const CLIENT_ID = "host";
const CLIENT_SECRET = "host-secret";
const REDIRECT = "https://host.test/callback";

/**
 * Starts a provider.
 *
 * @param resource What clients ask for by RFC 8707, and the tokens' audience.
 */
export async function startOidcProvider(
  { resource, scopes }: {
    readonly resource: string;
    readonly scopes: readonly string[];
  },
): Promise<OidcProvider> {
  const server = createServer();
  const port = await listen(server);
  const issuer = `http://127.0.0.1:${port}`;
  const configuration = await configure(resource, scopes);
  const provider = new Provider(issuer, configuration);
  const answer = provider.callback();
  server.on("request", async (request, response) => {
    if (!request.url?.startsWith("/interaction/")) {
      return answer(request, response);
    }
    await provider.interactionFinished(request, response, {
      login: { accountId: "person-1" },
    });
  });
  const token = (body: Record<string, string>) =>
    requestToken(issuer, { resource, ...body });
  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    machineToken: async (scope) =>
      (await token({ grant_type: "client_credentials", scope })).access_token,
    personTokens: async (scope) => {
      const verifier = "v".repeat(64);
      const code = await authorize(issuer, { resource, scope, verifier });
      const tokens = await token({
        grant_type: "authorization_code",
        code,
        code_verifier: verifier,
        redirect_uri: REDIRECT,
      });
      return { accessToken: tokens.access_token, idToken: tokens.id_token };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(
      0,
      "127.0.0.1",
      () => resolve((server.address() as AddressInfo).port),
    )
  );
}

async function configure(
  resource: string,
  scopes: readonly string[],
): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...await exportJWK(privateKey), kid: "op-1", use: "sig" };
  return {
    jwks: { keys: [jwk] },
    clients: [{
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      grant_types: ["client_credentials", "authorization_code"],
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "client_secret_post",
    }],
    // Named only so that the provider does not remark on its defaults.
    ttl: Object.fromEntries(
      ["Interaction", "Grant", "Session", "AccessToken", "AuthorizationCode"]
        .concat(["ClientCredentials", "IdToken"]).map((name) => [name, 600]),
    ),
    cookies: { keys: ["for tests"] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: scopes.join(" "),
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: () => ({ tenant_id: TENANT_A }),
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub }),
    }),
    interactions: {
      url: (_context: unknown, { uid }: { uid: string }) =>
        `/interaction/${uid}`,
    },
    async loadExistingGrant({ oidc }: { oidc: OidcContext }) {
      const { client, session, provider } = oidc;
      const grant = new provider.Grant({
        clientId: client?.clientId,
        accountId: session?.accountId,
      });
      grant.addOIDCScope("openid");
      grant.addResourceScope(resource, scopes.join(" "));
      await grant.save();
      return grant;
    },
  };
}

async function requestToken(
  issuer: string,
  body: Record<string, string>,
): Promise<{ readonly access_token: string; readonly id_token: string }> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      ...body,
    }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

/** Walks the redirects as a browser does, cookies and all, to the code. */
async function authorize(
  issuer: string,
  { resource, scope, verifier }: {
    readonly resource: string;
    readonly scope: string;
    readonly verifier: string;
  },
): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(verifier),
  );
  const cookies = new Map<string, string>();
  let next = `${issuer}/auth?${new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: "code",
    redirect_uri: REDIRECT,
    scope: `openid ${scope}`,
    resource,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  })}`;
  for (let step = 0; step < 8; step++) {
    if (next.startsWith(REDIRECT)) {
      const { searchParams } = new URL(next);
      const code = searchParams.get("code");
      if (code === null) throw new Error(searchParams.toString());
      return code;
    }
    const response = await fetch(next, {
      redirect: "manual",
      headers: { cookie: [...cookies.values()].join("; ") },
    });
    await response.body?.cancel();
    for (const cookie of response.headers.getSetCookie()) {
      const pair = cookie.split(";")[0] ?? "";
      cookies.set(pair.split("=")[0] ?? "", pair);
    }
    next = new URL(response.headers.get("location") ?? "", issuer).href;
  }
  throw new Error("The provider redirects without end");
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-")
    .replaceAll("/", "_").replaceAll("=", "");
}
