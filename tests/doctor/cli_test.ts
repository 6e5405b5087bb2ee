/** `cyberos-plugin doctor` as a person runs it: a process, permissions, exit codes. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import {
  FORGED_IDENTITY,
  FORGED_ISSUER,
} from "../support/signing_stack/forge.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";
import {
  type BundleOptions,
  makeArchive,
  makeBundle,
} from "./support/bundle.ts";
import {
  type CliOptions,
  type CliResult,
  denoDir,
  runProgram,
} from "./support/cli.ts";

const shared = shareSigningStack();

/** A folder with a trusted root, gone at the end. */
async function inFolder(
  work: (folder: string, root: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const root = `${folder}/root.json`;
    const { trustedRoot } = await shared.stack();
    await Deno.writeTextFile(root, JSON.stringify(trustedRoot));
    await work(folder, root);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function writeBundle(
  folder: string,
  options: BundleOptions = {},
): Promise<string> {
  const file = `${folder}/acme-trail-1.2.3.plugin`;
  await Deno.writeFile(file, await makeArchive(await shared.stack(), options));
  return file;
}

const doctor = (
  args: readonly string[],
  options?: CliOptions,
): Promise<CliResult> => runProgram(["doctor", ...args], options);

/** A stack trace, or a word of the machine underneath. */
function assertForPeople({ stdout, stderr }: CliResult): void {
  assert.doesNotMatch(stdout + stderr, /\n\s+at .*:\d+:\d+|internal error/);
}

Deno.test("P1-AC22 doctor fails a bundle whose signature was stripped, and passes it with the signature", async () => {
  await inFolder(async (folder, root) => {
    const file = await writeBundle(folder, { forge: null });
    const stripped = await doctor([file, "--trusted-root", root]);
    assert.equal(stripped.code, 1);
    assert.match(stripped.stdout, /✗ Signed .*\[UNSIGNED\]/);
    assert.match(
      stripped.stdout,
      /Do not install\n {2}UNSIGNED: Nobody has signed it/,
    );
    await writeBundle(folder);
    const signed = await doctor([file, "--trusted-root", root]);
    assert.equal(signed.code, 0, signed.stdout + signed.stderr);
  });
});

Deno.test("DOC-08 doctor verifies with leave to read and nothing else, whatever home and network are", async () => {
  await inFolder(async (folder, root) => {
    const file = await writeBundle(folder);
    const before = await listing(folder);
    const { code, stdout, stderr } = await doctor(
      [
        file,
        "--trusted-root",
        root,
        "--certificate-identity",
        FORGED_IDENTITY,
        "--certificate-oidc-issuer",
        FORGED_ISSUER,
      ],
      {
        permissions: ["--allow-read"],
        env: {
          DENO_DIR: await denoDir(),
          HOME: `${folder}/nowhere`,
          XDG_CACHE_HOME: `${folder}/nowhere`,
          TMPDIR: `${folder}/nowhere`,
        },
      },
    );
    assert.equal(code, 0, stdout + stderr);
    assert.equal(stderr, "");
    assert.match(stdout, /All 8 invariants hold\n$/);
    assert.match(stdout, /Identity {5}is the one in your policy/);
    assert.deepEqual(await listing(folder), before);
  });
});

async function listing(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) names.push(name);
  return names.sort();
}

Deno.test("doctor --json prints the whole report, and the exit code with it", async () => {
  await inFolder(async (folder, root) => {
    const file = await writeBundle(folder, { target: "cursor" });
    const run = await doctor([file, "--trusted-root", root, "--json"]);
    const report = JSON.parse(run.stdout);
    assert.equal(run.code, 0);
    assert.equal(report.ok, true);
    assert.equal(report.exit_code, 0);
    assert.equal(report.target, "cursor");
    assert.equal(report.kind, "archive");
    assert.deepEqual(report.plugin, { id: "acme-trail", version: "1.2.3" });
    assert.deepEqual(report.verdicts, []);
    assert.deepEqual(
      report.invariants.map((
        { id, status }: Record<string, string>,
      ) => [id, status]),
      [
        ["reproducible", "pass"],
        ["signed", "pass"],
        ["oauth_pkce", "pass"],
        ["audit", "pass"],
        ["capabilities", "pass"],
        ["semver", "pass"],
        ["tool_names", "pass"],
        ["no_escapes", "pass"],
      ],
    );
    assert.equal(report.invariants[1].note, "IDENTITY_UNCHECKED");
    assert.equal(report.signature.certificate_identity, FORGED_IDENTITY);
    assert.equal(report.signature.confirmed_online, false);
  });
});

Deno.test("DOC-06 a signer is judged by the caller's policy, from flags or a file", async () => {
  await inFolder(async (folder, root) => {
    const file = await writeBundle(folder);
    const base = [file, "--trusted-root", root];
    const policy = `${folder}/policy.json`;
    const writePolicy = (identity: string) =>
      Deno.writeTextFile(
        policy,
        JSON.stringify({
          signers: [{
            certificate_identity: identity,
            certificate_oidc_issuer: FORGED_ISSUER,
          }],
        }),
      );
    const flags = (identity: string, issuer: string) => [
      ...base,
      "--certificate-identity",
      identity,
      "--certificate-oidc-issuer",
      issuer,
    ];
    const san = await doctor(
      flags(FORGED_IDENTITY.slice(0, -1), FORGED_ISSUER),
    );
    assert.equal(san.code, 1);
    assert.match(san.stdout, /\[IDENTITY_SAN\]/);
    const issuer = await doctor(flags(FORGED_IDENTITY, `${FORGED_ISSUER}/`));
    assert.equal(issuer.code, 1);
    assert.match(issuer.stdout, /\[IDENTITY_ISSUER\]/);
    await writePolicy(FORGED_IDENTITY);
    const good = await doctor([
      ...base,
      "--policy",
      policy,
      "--require-identity",
    ]);
    assert.equal(good.code, 0, good.stdout + good.stderr);
    await writePolicy("https://evil.example/");
    assert.equal((await doctor([...base, "--policy", policy])).code, 1);
    const required = await doctor([...base, "--require-identity"]);
    assert.equal(required.code, 1);
    assert.match(required.stdout, /\[IDENTITY_UNCHECKED\]/);
  });
});

Deno.test("DOC-06 wrong usage is exit code 2, and names the way out", async () => {
  const wrong: [RegExp, string[]][] = [
    [/exactly one bundle/, []],
    [/exactly one bundle/, ["a", "b"]],
    [/needed together/, ["a", "--certificate-identity", "x"]],
    [/needed together/, ["a", "--certificate-oidc-issuer", "x"]],
    [/empty/, [
      "a",
      "--certificate-identity",
      "",
      "--certificate-oidc-issuer",
      "",
    ]],
    [/not both/, ["a", "--policy", "p", "--certificate-identity", "x"]],
    [/needs --online/, ["a", "--rekor-url", "https://rekor.example"]],
    [/must be an http/, ["a", "--online", "--rekor-url", "file:///etc/passwd"]],
    [/--nonsense/, ["a", "--nonsense"]],
  ];
  const runs = await Promise.all(wrong.map(([, args]) => doctor(args)));
  for (const [i, { code, stderr, stdout }] of runs.entries()) {
    assert.equal(code, 2, stderr);
    assert.match(stderr, wrong[i]?.[0] ?? /^$/);
    assert.match(stderr, /cyberos-plugin doctor --help/);
    assert.equal(stdout, "");
  }
});

Deno.test("DOC-08 what could not be verified is exit code 3, never the one for a bad bundle", async () => {
  await inFolder(async (folder, root) => {
    const file = await writeBundle(folder);
    await Deno.writeTextFile(`${folder}/broken.json`, "{");
    await Deno.writeTextFile(`${folder}/empty.json`, "{}");
    const unverifiable: [RegExp, string[]][] = [
      [/does not exist/, [`${folder}/nowhere.plugin`]],
      [/not JSON/, [file, "--trusted-root", `${folder}/broken.json`]],
      [/trusted root/, [file, "--trusted-root", `${folder}/empty.json`]],
      [/Cannot read ".*": it does not exist\n.*root/, [
        file,
        "--trusted-root",
        `${folder}/nowhere.json`,
      ]],
      [/policy/, [file, "--policy", `${folder}/broken.json`]],
      [/policy/, [file, "--policy", `${folder}/empty.json`]],
    ];
    for (const [message, args] of unverifiable) {
      const run = await doctor([...args, "--json"]);
      assert.equal(run.code, 3, run.stderr);
      assert.match(run.stderr, /Could not verify/);
      assert.match(run.stderr, message);
      assert.equal(JSON.parse(run.stdout).exit_code, 3);
      assertForPeople(run);
    }
    // Nothing can be read: not the bundle's fault either.
    const blind = await doctor([file, "--trusted-root", root], {
      permissions: [],
    });
    assert.equal(blind.code, 3, blind.stderr);
    assertForPeople(blind);
  });
});

Deno.test("doctor --online asks the log by UUID; a log that is away is no verdict", async () => {
  await inFolder(async (folder, root) => {
    const { url, rekor } = await shared.stack();
    const file = await writeBundle(folder);
    const base = [file, "--trusted-root", root, "--online", "--rekor-url"];
    const permissions = ["--allow-read", "--allow-net=127.0.0.1"];
    const good = await doctor([...base, url], { permissions });
    assert.equal(good.code, 0, good.stdout + good.stderr);
    assert.match(good.stdout, /the log has it/);
    const away = await doctor([...base, "http://127.0.0.1:1"], { permissions });
    assert.equal(away.code, 3);
    assert.match(away.stdout, /not checked: .*\[REKOR_UNREACHABLE\]/);
    const forbidden = await doctor([...base, url]);
    assert.equal(forbidden.code, 3, "without leave for the network");
    rekor.forget();
    const missing = await doctor([...base, url], { permissions });
    assert.equal(missing.code, 1);
    assert.match(missing.stdout, /✗ Signed .*\[REKOR_ENTRY_MISSING\]/);
  });
});

Deno.test("DOC-09 damaged and foreign input: one clear finding each, no stack trace", async () => {
  await inFolder(async (folder, root) => {
    const archive = await makeArchive(await shared.stack());
    const utf8 = new TextEncoder();
    const inputs: [RegExp, Uint8Array | null][] = [
      [/file is empty/, new Uint8Array(0)],
      [/not a zip archive/, utf8.encode("hello, world\n".repeat(100))],
      [/tar\.gz/, gzipSync(archive)],
      [
        /signature as mcpb appends it/,
        new Uint8Array([...archive, ...utf8.encode("MCPB_SIG_V1 …")]),
      ],
      [/cut off/, archive.subarray(0, archive.length >> 1)],
      [/There is no "plugin.json"/, null],
    ];
    const runs = await Promise.all(inputs.map(async ([, bytes], i) => {
      const path = `${folder}/${i}.zip`;
      if (bytes === null) await Deno.mkdir(path);
      else await Deno.writeFile(path, bytes);
      return await doctor([path, "--trusted-root", root]);
    }));
    for (const [i, run] of runs.entries()) {
      assert.equal(run.code, 1, run.stderr);
      assert.match(run.stdout, inputs[i]?.[0] ?? /^$/);
      assert.equal(run.stdout.match(/✗/g)?.length, 1);
      assert.equal(run.stdout.match(/not checked/g)?.length, 7);
      assertForPeople(run);
    }
  });
});

Deno.test("a stranger's text does not steer the terminal", async () => {
  await inFolder(async (folder, root) => {
    const evil = "\x1b[2J\x1b]0;owned\x07\u202efdp";
    const file = await writeBundle(folder, {
      manifest: { version: `1.0.0${evil}` },
      forge: { identity: "https://acme.example/ci" },
    });
    const { stdout, code } = await doctor([file, "--trusted-root", root]);
    const json = await doctor([file, "--trusted-root", root, "--json"]);
    assert.doesNotMatch(json.stdout, /(?!\n)[\p{Cc}\p{Cf}]/u);
    assert.ok(Array.isArray(JSON.parse(json.stdout).invariants));
    assert.equal(code, 1);
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
  });
});

Deno.test("doctor examines the folder that a bundle was unpacked to", async () => {
  await inFolder(async (folder, root) => {
    const { entries } = await makeBundle(await shared.stack());
    const unpacked = `${folder}/unpacked`;
    for (const entry of entries) {
      const at = `${unpacked}/${entry.path}`;
      await Deno.mkdir(at.slice(0, at.lastIndexOf("/")), { recursive: true });
      await Deno.writeFile(at, await entry.read());
    }
    const good = await doctor([unpacked, "--trusted-root", root]);
    assert.equal(good.code, 0, good.stdout + good.stderr);
    assert.match(good.stdout, /for claude-code, folder/);
    await Deno.writeTextFile(`${unpacked}/.env`, "KEY=1");
    const stray = await doctor([unpacked, "--trusted-root", root]);
    assert.equal(stray.code, 1);
    assert.match(stray.stdout, /CONTENT_MISMATCH/);
    assert.match(stray.stdout, /PATH_UNEXPECTED/);
    await Deno.remove(`${unpacked}/.env`);
    await Deno.symlink("/etc/passwd", `${unpacked}/assets/link.txt`);
    const link = await doctor([unpacked, "--trusted-root", root]);
    assert.equal(link.code, 1);
    assert.match(link.stdout, /a link or a special file \[ZIP_MODE\]/);
    assert.doesNotMatch(link.stdout, /root:/);
  });
});

Deno.test("doctor --help lists every option and exit code", async () => {
  const { code, stdout } = await doctor(["--help"]);
  assert.equal(code, 0);
  for (
    const word of [
      "--policy",
      "--online",
      "--trusted-root",
      "--json",
      "could not verify",
    ]
  ) {
    assert.ok(stdout.includes(word), word);
  }
});

Deno.test("doctor and rebuild say of a path that the system refuses that they could not read it", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "x");
    const inputs: [RegExp, string][] = [
      [/it does not exist/, `${folder}/none`],
      [/a part of its path is not a folder/, `${folder}/file/x`],
      [/Cannot read/, `${folder}/${"x".repeat(300)}`],
    ];
    if (Deno.build.os !== "windows") {
      await Deno.symlink("loop", `${folder}/loop`);
      inputs.push([/Cannot read/, `${folder}/loop`]);
    }
    for (const [reason, path] of inputs) {
      const run = await doctor([path]);
      assert.equal(run.code, 3, run.stderr);
      assert.match(run.stderr, reason);
      const args = ["rebuild", "--manifest", `${folder}/file`, path];
      const rebuilt = await runProgram(args);
      assert.equal(rebuilt.code, 1, rebuilt.stderr);
      assert.match(rebuilt.stderr, reason);
    }
  });
});
