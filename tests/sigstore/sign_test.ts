/** Signing against real servers, and what becomes visible when it fails. */
import assert from "node:assert/strict";
import { PackerError } from "../../packer/errors.ts";
import {
  findIdentityToken,
  type IdentityToken,
  type TokenSources,
} from "../../packer/sigstore/identity_token.ts";
import { confirmInLog } from "../../packer/sigstore/online.ts";
import { redact } from "../../packer/sigstore/redact.ts";
import { SignatureRefusal } from "../../packer/sigstore/refusal.ts";
import { signStatement } from "../../packer/sigstore/sign_statement.ts";
import {
  type VerifiedSignature,
  verifySignature,
} from "../../packer/sigstore/verify_signature.ts";
import { identityToken } from "../support/signing_stack/identity_token.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";

const shared = shareSigningStack();
const STATEMENT = new TextEncoder().encode('{"about":"this content"}');
const CLAIMS = {
  issuer: "https://issuer.example",
  subject: "https://ci.example/release@main",
};

function find(sources: Partial<TokenSources>): Promise<IdentityToken> {
  return findIdentityToken({ fetch, now: new Date(), ...sources });
}

async function services() {
  const { url } = await shared.stack();
  return { fulcioUrl: `${url}/`, rekorUrl: url, retries: 0, timeoutMs: 5_000 };
}

async function signed(): Promise<VerifiedSignature> {
  const { trustedRoot } = await shared.stack();
  const token = await find({ token: identityToken(CLAIMS) });
  return await verifySignature({
    signature: await signStatement(STATEMENT, token, await services()),
    statement: STATEMENT,
    roots: [{ name: "test", json: trustedRoot }],
    now: new Date(),
  });
}

// The HTTP client of @sigstore/sign keeps its sockets for later calls.
const KEEPS_SOCKETS = { sanitizeOps: false, sanitizeResources: false };

Deno.test(
  "signStatement() signs keylessly, and the log has the entry under its UUID",
  KEEPS_SOCKETS,
  async () => {
    const { url, rekor } = await shared.stack();
    const verified = await signed();
    assert.deepEqual(verified.signer, {
      identity: CLAIMS.subject,
      issuer: CLAIMS.issuer,
    });
    assert.notEqual(rekor.find(verified.rekorUuid), undefined);
    await confirmInLog(verified, { rekorUrl: url, fetch });
  },
);

Deno.test(
  "signStatement() adds a time stamp where an authority is named",
  KEEPS_SOCKETS,
  async () => {
    const { url, trustedRoot } = await shared.stack();
    const token = await find({ token: identityToken(CLAIMS) });
    const signature = await signStatement(STATEMENT, token, {
      ...await services(),
      tsaUrl: url,
    });
    const text = atob(signature.sigstore_bundle);
    assert.match(text, /"signedTimestamp":"/);
    await verifySignature({
      signature,
      statement: STATEMENT,
      roots: [{ name: "test", json: trustedRoot }],
      now: new Date(),
    });
  },
);

Deno.test(
  "signStatement() says which service failed, and never shows the token",
  KEEPS_SOCKETS,
  async () => {
    const { url } = await shared.stack();
    const good = await find({ token: identityToken(CLAIMS) });
    const usual = await services();
    const echo = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        // A service that quotes what it was sent.
        const message = await request.text();
        return Response.json({ message }, { status: 400 });
      },
    );
    const echoUrl = `http://127.0.0.1:${echo.addr.port}`;
    const failures = [
      [/Fulcio gave no certificate/, good, { fulcioUrl: "http://127.0.0.1:1" }],
      [/Fulcio gave no certificate/, good, { fulcioUrl: echoUrl }],
      [/Rekor took no log entry/, good, { rekorUrl: `${url}/nowhere` }],
      [/Rekor took no log entry/, good, { rekorUrl: echoUrl }],
      [/time stamp/, good, { tsaUrl: `${url}/nowhere` }],
      [/identity token cannot be read/, {
        ...good,
        value: "eyJub3QiOiJKU09O.bm9wZQ.c2ln",
      }, {}],
    ] as const;
    try {
      for (const [message, token, services] of failures) {
        const error = await signStatement(STATEMENT, token, {
          ...usual,
          ...services,
        }).then(() => undefined, (error) => error);
        assert.ok(error instanceof PackerError);
        assert.equal(error.code, "SIGNING_FAILED");
        assert.match(error.message, message);
        const shown = Deno.inspect(error);
        for (const part of token.value.split(".")) {
          assert.ok(
            !shown.includes(part),
            `${message} shows a part of the token`,
          );
        }
      }
    } finally {
      await echo.shutdown();
    }
    await signed();
  },
);

Deno.test("findIdentityToken() takes flag, file, SIGSTORE_ID_TOKEN and GitHub Actions in this order", async () => {
  const token = (subject: string) => identityToken({ ...CLAIMS, subject });
  const seen: { url: string; authorization: string | null }[] = [];
  const github = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const { url, headers } = request;
      seen.push({ url, authorization: headers.get("authorization") });
      return Response.json({ value: token("github") });
    },
  );
  const sources: readonly [string, Partial<TokenSources>][] = [
    ["flag", { token: token("flag") }],
    ["file", { tokenFile: `${token("file")}\n` }],
    ["environment", { sigstoreIdToken: token("environment") }],
    ["github", {
      actionsRequestUrl: `http://127.0.0.1:${github.addr.port}/token?api=1`,
      actionsRequestToken: "request-token",
    }],
  ];
  try {
    for (const [i, [subject]] of sources.entries()) {
      const rest = sources.slice(i).map(([, source]) => source);
      const found = await find(Object.assign({}, ...rest));
      assert.equal(found.subject, subject);
      assert.equal(found.issuer, CLAIMS.issuer);
    }
  } finally {
    await github.shutdown();
  }
  assert.deepEqual(seen.map(({ authorization }) => authorization), [
    "Bearer request-token",
  ]);
  assert.match(seen[0]?.url ?? "", /\/token\?api=1&audience=sigstore$/);
});

Deno.test("findIdentityToken() refuses what no certificate can come of, without showing it", async () => {
  const now = new Date();
  const jwt = (claims: unknown) =>
    `eyJhbGciOiJFUzI1NiJ9.${
      btoa(JSON.stringify(claims)).replaceAll("=", "")
    }.c2lnbmF0dXJl`;
  const exp = Math.floor(now.getTime() / 1000) + 60;
  const claims = { iss: "i", sub: "secret-subject", aud: "sigstore", exp };
  const bad: [RegExp, Partial<TokenSources>][] = [
    [/No identity token/, {}],
    [/No identity token/, { token: "  " }],
    [/not a JSON Web Token/, { token: "opaque-secret-value" }],
    [/not a JSON Web Token/, { token: "a.secret-part.c" }],
    [/expired/, { token: jwt({ ...claims, exp: exp - 120 }) }],
    [/no issuer or no subject/, { token: jwt({ ...claims, sub: 7 }) }],
    [/not meant for "sigstore"/, { token: jwt({ ...claims, aud: "other" }) }],
    [/not a URL/, {
      actionsRequestUrl: "nowhere",
      actionsRequestToken: "secret",
    }],
    [/cannot be reached/, {
      actionsRequestUrl: "http://127.0.0.1:1/",
      actionsRequestToken: "secret-request-token",
    }],
  ];
  for (const [message, sources] of bad) {
    const error = await find(sources).then(() => undefined, (error) => error);
    assert.ok(error instanceof PackerError, String(message));
    assert.equal(error.code, "SIGNING_FAILED");
    assert.match(error.message, message);
    assert.doesNotMatch(Deno.inspect(error), /secret|c2lnbmF0dXJl/);
  }
  await find({ token: jwt(claims) });
  await find({ token: jwt({ ...claims, aud: ["other", "sigstore"] }) });
});

Deno.test("redact() takes tokens out, whole and in parts, known and unknown", () => {
  const token = identityToken(CLAIMS);
  const [head, body, signature] = token.split(".") as [string, string, string];
  for (const text of [token, head, body, signature, `"${token}"`]) {
    assert.equal(
      redact(`before ${text} after`, [token]).includes(text.slice(1, -1)),
      false,
    );
  }
  assert.equal(redact(`x ${token} y`), "x [redacted] y");
  assert.equal(redact("nothing to hide"), "nothing to hide");
});

async function onlineVerdict(
  verified: Parameters<typeof confirmInLog>[0],
  rekorUrl: string,
): Promise<string> {
  try {
    await confirmInLog(verified, { rekorUrl, fetch, timeoutMs: 500 });
    return "confirmed";
  } catch (error) {
    assert.ok(error instanceof SignatureRefusal);
    return error.code;
  }
}

Deno.test(
  "REKOR_ENTRY_MISSING: the log has no such entry, or another one",
  KEEPS_SOCKETS,
  async () => {
    const { url, rekor } = await shared.stack();
    const verified = await signed();
    const { entry } = verified;
    const others: Parameters<typeof confirmInLog>[0][] = [
      { ...verified, rekorUuid: "0".repeat(80) },
      { ...verified, entry: { ...entry, logIndex: "1" } },
      { ...verified, entry: { ...entry, logIdBase64: "AAAA" } },
      { ...verified, entry: { ...entry, body: new Uint8Array(3) } },
      { ...verified, entry: { ...entry, integratedTime: new Date(0) } },
    ];
    for (const other of others) {
      assert.equal(await onlineVerdict(other, url), "REKOR_ENTRY_MISSING");
    }
    assert.equal(await onlineVerdict(verified, url), "confirmed");
    rekor.forget();
    assert.equal(await onlineVerdict(verified, url), "REKOR_ENTRY_MISSING");
  },
);

Deno.test(
  "REKOR_UNREACHABLE: the log is away, silent, redirects, errs or talks without end",
  KEEPS_SOCKETS,
  async () => {
    const verified = await signed();
    const { url } = await shared.stack();
    const hold = new AbortController();
    const answers: Record<string, () => Response | Promise<Response>> = {
      silent: () =>
        new Promise((resolve) =>
          hold.signal.addEventListener("abort", () => resolve(new Response()))
        ),
      // The entry is really there: who follows would find it.
      redirect: () =>
        Response.redirect(
          `${url}/api/v1/log/entries/${verified.rekorUuid}`,
          302,
        ),
      error: () => new Response("oops", { status: 503 }),
      junk: () => new Response("not json"),
      nothing: () => new Response("null"),
      number: () => new Response("1"),
      "a list of nothing": () => new Response("[null]"),
      endless: () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(65536)),
          }),
        ),
    };
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => {
        const [, part = ""] = new URL(request.url).pathname.split("/");
        const name = decodeURIComponent(part);
        return answers[name]?.() ?? new Response(null, { status: 500 });
      },
    );
    try {
      const base = `http://127.0.0.1:${server.addr.port}`;
      for (const name of Object.keys(answers)) {
        const verdict = await onlineVerdict(verified, `${base}/${name}`);
        assert.equal(verdict, "REKOR_UNREACHABLE", name);
      }
      const gone = await onlineVerdict(verified, "http://127.0.0.1:1");
      assert.equal(gone, "REKOR_UNREACHABLE");
    } finally {
      hold.abort();
      await server.shutdown();
    }
  },
);
