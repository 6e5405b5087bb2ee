import assert from "node:assert/strict";
import { createAuthenticator } from "../../../bridge/auth/authenticator.ts";
import { createConfirmations } from "../../../bridge/auth/confirmations.ts";
import {
  createFileKeyStore,
  createMemoryKeyStore,
  type KeyStore,
} from "../../../bridge/auth/key_store.ts";
import { createLocalIssuer } from "../../../bridge/auth/local_issuer.ts";
import { NOW_MS, TENANT_A } from "../../support/tokens.ts";

const clock = { now: () => NOW_MS };
const request = {
  subject: "dev",
  tenantId: TENANT_A,
  scopes: ["cyberos:cuo:list", "cyberos:memory:write"],
  expiresInSeconds: 60,
};

function setUp(store: KeyStore, pluginId = "cyberos") {
  const issuer = createLocalIssuer({ store, pluginId, clock });
  const options = {
    issuer: issuer.issuer,
    pluginId,
    resourceUrls: [],
    clock,
    keys: issuer.keys,
  };
  return {
    issuer,
    authenticator: createAuthenticator(options),
    confirmations: createConfirmations(options),
  };
}

Deno.test("createLocalIssuer() mints tokens that the authenticator takes", async () => {
  const { issuer, authenticator } = setUp(createMemoryKeyStore());
  const token = await issuer.mintAccessToken(request);
  assert.deepEqual(await authenticator.authenticate(token), {
    subject: "dev",
    tenantId: TENANT_A,
    scopes: new Set(request.scopes),
  });
  const { keys } = await issuer.publicKeySet();
  assert.deepEqual(Object.keys(keys[0] ?? {}).sort(), [
    "alg",
    "e",
    "kid",
    "kty",
    "n",
    "use",
  ]);
});

Deno.test("createLocalIssuer() tokens of another key or plugin are refused", async () => {
  const store = createMemoryKeyStore();
  const { authenticator } = setUp(store);
  const stranger = setUp(createMemoryKeyStore()).issuer;
  const otherPlugin = setUp(store, "other").issuer;
  for (const issuer of [stranger, otherPlugin]) {
    const token = await issuer.mintAccessToken(request);
    await assert.rejects(authenticator.authenticate(token), {
      code: "TOKEN_INVALID",
    });
  }
});

Deno.test("createLocalIssuer() without its key is unavailable, and recovers", async () => {
  const kept = createMemoryKeyStore();
  const minted = await setUp(kept).issuer.mintAccessToken(request);
  let broken = true;
  const { authenticator } = setUp({
    ...kept,
    load: () =>
      broken ? Promise.reject(new Error("/secret/path")) : kept.load(),
  });
  await assert.rejects(authenticator.authenticate(minted), (error) => {
    const { code, message } = error as { code: string; message: string };
    return code === "KEYS_UNAVAILABLE" && !message.includes("secret");
  });
  broken = false;
  assert.equal((await authenticator.authenticate(minted)).subject, "dev");
});

Deno.test("createLocalIssuer() mints confirmations for one call", async () => {
  const { issuer, confirmations } = setUp(createMemoryKeyStore());
  const call = { kind: "decision", body: { a: 1 } };
  const tool = "cyberos.memory.append_audit";
  const token = await issuer.mintConfirmationToken({
    ...request,
    tool,
    arguments: call,
  });
  const principal = { ...request, scopes: new Set<string>() };
  const judge = (args: typeof call) =>
    confirmations.verify(token, { principal, tool, arguments: args });
  assert(await judge(call));
  assert(!await judge({ ...call, kind: "other" }));
});

Deno.test("createFileKeyStore() gives one key to processes that start at once, readable by the owner only", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/data/issuer_key.json`;
    const texts = Array.from({ length: 8 }, (_, index) => `key ${index}`);
    const kept = await Promise.all(
      texts.map((text) => createFileKeyStore(path).create(text)),
    );
    assert.equal(new Set(kept).size, 1);
    assert.equal(await createFileKeyStore(path).load(), kept[0]);
    const entries = [...Deno.readDirSync(`${folder}/data`)];
    assert.deepEqual(entries.map((entry) => entry.name), ["issuer_key.json"]);
    if (Deno.build.os !== "windows") {
      assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("createLocalIssuer() over one folder: another process mints what this one takes", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const store = () => createFileKeyStore(`${folder}/issuer_key.json`);
    const { authenticator } = setUp(store());
    const program = `
      import { createFileKeyStore } from "./bridge/auth/key_store.ts";
      import { createLocalIssuer } from "./bridge/auth/local_issuer.ts";
      const issuer = createLocalIssuer({
        store: createFileKeyStore(${
      JSON.stringify(`${folder}/issuer_key.json`)
    }),
        pluginId: "cyberos",
        clock: { now: () => ${NOW_MS} },
      });
      await Deno.stdout.write(new TextEncoder().encode(
        await issuer.mintAccessToken(${JSON.stringify(request)})));
    `;
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", program],
      cwd: new URL("../../../", import.meta.url),
      stderr: "null",
    }).output();
    assert.equal(code, 0);
    const token = new TextDecoder().decode(stdout);
    assert.equal((await authenticator.authenticate(token)).subject, "dev");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
