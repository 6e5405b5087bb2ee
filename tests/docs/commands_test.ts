import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/postgres_cluster.ts";
import { copyOfRepository } from "./copy.ts";
import { type Outcome, type Place, runPage } from "./run_pages.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Pages whose commands are one script that another test runs. */
const ELSEWHERE = new Set(["docs/signing.md"]);

/** What the pages take for granted: the shipped bundles, and a plugin of the reader's own. */
const BEFORE = [
  "cyberos-plugin pack manifests/cyberos@1.0.0.plugin.json --out .",
  "cyberos-plugin pack manifests/cyberos@1.0.0.plugin.json --target codex-cli --out .",
  "cyberos-plugin init --yes --id acme-crm",
  "mkdir acme && cp acme-crm@1.0.0.plugin.json acme/",
];

function pages(): string[] {
  const docs = [...Deno.readDirSync(`${ROOT}docs`)]
    .map(({ name }) => `docs/${name}`);
  return ["README.md", "CONTRIBUTING.md", ...docs.sort()]
    .filter((name) => name.endsWith(".md") && !ELSEWHERE.has(name));
}

async function prepare({ cwd, env }: Place): Promise<void> {
  for (const line of BEFORE) {
    const { success, stderr } = await new Deno.Command("sh", {
      args: ["-euc", line],
      cwd,
      clearEnv: true,
      env: { ...env },
      stdin: "null",
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
  }
}

function complaint(page: string, { command, code, output }: Outcome): string {
  return `${page}:${command.line}: ${command.text} exits ${code}: ${output}`;
}

Deno.test(
  "every command of README and docs works as written, in a fresh copy",
  {
    ignore: Deno.build.os === "windows",
  },
  async (t) => {
    await using copy = await copyOfRepository(ROOT);
    const place = {
      cwd: copy.dir,
      env: copy.env,
      port: freePort(),
      worked: new Set<string>(),
    };
    await prepare(place);
    let ran = 0;
    for (const page of pages()) {
      await t.step(page, async () => {
        const outcomes = await runPage(`${copy.dir}/${page}`, place);
        ran += outcomes.filter(({ code }) => code !== undefined).length;
        const failed = outcomes.filter(({ code }) => (code ?? 0) !== 0);
        assert.deepEqual(failed.map((one) => complaint(page, one)), []);
      });
    }
    assert.ok(ran >= 20, `only ${ran} commands were run`);
  },
);
