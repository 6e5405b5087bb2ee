/** Skills from a folder: real sizes, hostile names, links and frontmatter. */
import assert from "node:assert/strict";
import { createSkills } from "../../../bridge/upstream/skills/skills.ts";
import type { Skills } from "../../../bridge/ports.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { after } from "./cuo_bench.ts";

interface FolderBench extends UpstreamBench {
  readonly dir: string;
  readonly skills: Skills;
}

/** How long a list is fresh, and a little more. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 1_050));

async function withFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  run: (bench: FolderBench) => Promise<void>,
  options: { readonly checkout?: string } = {},
): Promise<void> {
  const base = await Deno.realPath(
    await Deno.makeTempDir({ prefix: "skills-" }),
  );
  const dir = `${base}/${options.checkout ?? "here"}`;
  await Deno.mkdir(dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = `${dir}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
  }
  const bench = new UpstreamBench();
  const skills = createSkills({
    ...(options.checkout === undefined ? { directory: dir } : { root: base }),
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
  });
  try {
    await run(Object.assign(bench, { dir, skills }));
  } finally {
    await skills.close();
    await Deno.remove(base, { recursive: true });
  }
}

function skill(name: string, description = `Does ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# How\n\nDo it.\n`;
}

const ids = async (bench: FolderBench) =>
  (await bench.skills.list(bench.context())).skills.map((s) => s.skillId);

Deno.test("createSkills() lists a folder's skills by id and hands out a brief", () =>
  withFolder({
    "zeta/SKILL.md": skill("zeta"),
    "alpha/SKILL.md": skill("alpha"),
    "README.md": "not a skill",
    "_template/SKILL.md": "not a skill",
    ".hidden/SKILL.md": "not a skill",
  }, async (bench) => {
    const { skills, problems } = await bench.skills.list(bench.context());
    assert.deepEqual(skills, [
      { skillId: "alpha", description: "Does alpha." },
      { skillId: "zeta", description: "Does zeta." },
    ]);
    assert.deepEqual(problems, []);
    const brief = await bench.skills.invoke({
      skillId: "zeta",
      inputs: { topic: "x" },
    }, bench.run());
    assert.equal(brief["instructions"], "# How\n\nDo it.");
    assert.deepEqual(brief["inputs_given"], ["topic"]);
    assert.match(String(brief["note"]), /no model of its own/);
    assert.deepEqual(bench.progress, [{ step: 1, total: 1, message: "zeta" }]);
  }));

Deno.test("createSkills() names the nearest skill for an unknown one, and why a broken one is not there", () =>
  withFolder({
    "budget-author/SKILL.md": skill("budget-author"),
    "broken/SKILL.md": "none",
  }, async (bench) => {
    const invoke = (skillId: string) =>
      refusal(bench.skills.invoke({ skillId, inputs: {} }, bench.run()));
    const unknown = await invoke("budget-autor");
    assert.equal(unknown.code, "NOT_FOUND");
    assert.match(unknown.hint, /budget-author/);
    for (
      const odd of [
        "../budget-author",
        "budget-author/../broken",
        "/etc/passwd",
        "",
        "budget-author\0",
      ]
    ) {
      assert.equal((await invoke(odd)).code, "NOT_FOUND", odd);
    }
    assert.match((await invoke("broken")).hint, /no YAML frontmatter/);
  }));

Deno.test("STD-31 createSkills() lists the good skill and reports each bad one with its reason", () =>
  withFolder({
    "good/SKILL.md": skill("good"),
    "good-bom/SKILL.md": "\uFEFF" + skill("good-bom").replaceAll("\n", "\r\n"),
    "unquoted/SKILL.md": skill("unquoted", "Use when: x"),
    "headless/SKILL.md": "# Just text\n",
    "endless/SKILL.md": "---\nname: endless\ndescription: x\n",
    "copy/SKILL.md": skill("good"),
    "bare/other.md": "x",
    "lower/skill.md": skill("lower"),
    "long/SKILL.md": skill("long", "x".repeat(1025)),
    "just-fits/SKILL.md": skill("just-fits", "x".repeat(1024)),
    "tagged/SKILL.md": skill("tagged", "!!js/function 'function(){}'"),
    "bomb/SKILL.md":
      `---\nname: bomb\ndescription: x\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n`,
    "twice/SKILL.md": "---\nname: twice\nname: twice\ndescription: x\n---\n",
    "unclosed/SKILL.md":
      "---\nname: unclosed\ndescription: x\nmetadata: [a, b\n---\n",
    "nameless/SKILL.md": "---\ndescription: x\n---\n",
    "wordless/SKILL.md": "---\nname: wordless\n---\n",
    "listed/SKILL.md": "---\n- name\n- x\n---\n",
    "binary/SKILL.md": Uint8Array.of(0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x00),
    "huge/SKILL.md": skill("huge") + "x".repeat(600_000),
    "Upper/SKILL.md": skill("Upper"),
    "with space/SKILL.md": skill("with space"),
    "double--hyphen/SKILL.md": skill("double--hyphen"),
  }, async (bench) => {
    const { skills, problems } = await bench.skills.list(bench.context());
    assert.deepEqual(skills.map((s) => s.skillId), [
      "good",
      "good-bom",
      "just-fits",
    ]);
    const reasons = Object.fromEntries(
      problems.map((p) => [p.skillId, p.reason]),
    );
    const expected: Readonly<Record<string, RegExp>> = {
      unquoted: /not valid YAML .*line 3/,
      headless: /no YAML frontmatter, line 1/,
      endless: /never ends/,
      copy: /names itself "good"/,
      bare: /no SKILL\.md/,
      lower: /in capitals/,
      long: /1025 characters/,
      tagged: /not valid YAML/,
      bomb: /aliases/,
      twice: /not valid YAML/,
      unclosed: /not valid YAML/,
      nameless: /no name/,
      wordless: /no description/,
      listed: /not a mapping/,
      binary: /SKILL\.md/,
      huge: /too large/,
      Upper: /no skill id/,
      "with space": /no skill id/,
      "double--hyphen": /no skill id/,
    };
    for (const [id, reason] of Object.entries(expected)) {
      assert.match(reasons[id] ?? "", reason, id);
    }
    assert.equal(problems.length, Object.keys(expected).length);
    assert.ok(!JSON.stringify(problems).includes(bench.dir), "a path shows");
    const logged = bench.log.lines.filter((l) =>
      l.event === "skill cannot be read"
    );
    assert.equal(logged.length, problems.length);
    await bench.skills.list(bench.context());
    assert.equal(
      bench.log.lines.length,
      logged.length,
      "the same problems are logged once",
    );
  }));

Deno.test("createSkills() refuses links that leave the folder and follows those that stay", () =>
  withFolder({ "real/SKILL.md": skill("real") }, async (bench) => {
    const outside = await Deno.makeTempDir();
    await Deno.writeTextFile(`${outside}/SKILL.md`, skill("linked-dir"));
    await Deno.symlink(outside, `${bench.dir}/linked-dir`);
    await Deno.mkdir(`${bench.dir}/linked-file`);
    await Deno.symlink(
      `${outside}/SKILL.md`,
      `${bench.dir}/linked-file/SKILL.md`,
    );
    await Deno.mkdir(`${bench.dir}/dangling`);
    await Deno.symlink("/nowhere", `${bench.dir}/dangling/SKILL.md`);
    await Deno.symlink("..", `${bench.dir}/up`);
    await Deno.mkdir(`${bench.dir}/inside`);
    await Deno.writeTextFile(`${bench.dir}/inside/text.md`, skill("inside"));
    await Deno.symlink("text.md", `${bench.dir}/inside/SKILL.md`);
    const { skills, problems } = await bench.skills.list(bench.context());
    assert.deepEqual(skills.map((s) => s.skillId), ["inside", "real"]);
    assert.deepEqual(problems.map((p) => p.skillId), [
      "dangling",
      "linked-dir",
      "linked-file",
      "up",
    ]);
    for (const { reason } of problems) assert.match(reason, /link leads out/);
    const error = await refusal(
      bench.skills.invoke({ skillId: "linked-file", inputs: {} }, bench.run()),
    );
    assert.equal(error.code, "NOT_FOUND");
    await Deno.remove(outside, { recursive: true });
  }));

Deno.test("createSkills() notices changed, new and removed skills, and reads the others no second time", () =>
  withFolder(
    { "one/SKILL.md": skill("one"), "two/SKILL.md": skill("two") },
    async (bench) => {
      assert.deepEqual(await ids(bench), ["one", "two"]);
      await Deno.writeTextFile(
        `${bench.dir}/one/SKILL.md`,
        skill("one", "Changed."),
      );
      await Deno.mkdir(`${bench.dir}/three`);
      await Deno.writeTextFile(`${bench.dir}/three/SKILL.md`, skill("three"));
      await Deno.remove(`${bench.dir}/two`, { recursive: true });
      await pause();
      const { skills } = await bench.skills.list(bench.context());
      assert.deepEqual(skills.map((s) => [s.skillId, s.description]), [
        ["one", "Changed."],
        ["three", "Does three."],
      ]);
    },
  ));

Deno.test("createSkills() says what to do where the folder is gone, and recovers by itself", () =>
  withFolder({ "one/SKILL.md": skill("one") }, async (bench) => {
    await Deno.rename(bench.dir, `${bench.dir}.away`);
    const error = await refusal(bench.skills.list(bench.context()));
    assert.equal(error.class, "upstream_unavailable");
    assert.match(error.hint, /CYBEROS_SKILLS_DIR/);
    assert.ok(!error.message.includes(bench.dir));
    assert.equal((await bench.skills.status(after(1_000))).state, "down");
    await Deno.rename(`${bench.dir}.away`, bench.dir);
    assert.deepEqual(await ids(bench), ["one"]);
    assert.equal((await bench.skills.status(after(1_000))).state, "ok");
  }));

for (const checkout of ["modules/skill", "skills", "skill"]) {
  Deno.test(`createSkills() finds the skills of a checkout in ${checkout} and passes over its other folders`, () =>
    withFolder({
      "one/SKILL.md": skill("one"),
      "crates/Cargo.toml": "x",
      "broken/SKILL.md": "x",
    }, async (bench) => {
      const { skills, problems } = await bench.skills.list(bench.context());
      assert.deepEqual(skills.map((s) => s.skillId), ["one"]);
      assert.deepEqual(problems.map((p) => p.skillId), ["broken"]);
    }, { checkout }));
}

Deno.test("createSkills() lists 248 skills cold in well under a second, and again at once", () => {
  const files = Object.fromEntries(
    Array.from({ length: 248 }, (_, i) => [
      `skill-${i}/SKILL.md`,
      `---\nname: skill-${i}\ndescription: >-\n  Author number ${i} of the catalogue.\n  Use when asked to "write ${i}".\nlicense: Apache-2.0\nmetadata:\n  version: 1.0.0\n  tags: [a, b]\n---\n${
        "Text of the skill.\n".repeat(300)
      }`,
    ]),
  );
  return withFolder(files, async (bench) => {
    const started = performance.now();
    assert.equal((await ids(bench)).length, 248);
    // The aim is 200 ms on a quiet machine; the bench measures it, this only guards the order.
    assert.ok(performance.now() - started < 1_000);
    await pause();
    const again = performance.now();
    assert.equal((await ids(bench)).length, 248);
    assert.ok(performance.now() - again < 300);
  });
});

Deno.test("createSkills() says exactly what to set where nothing is configured", async () => {
  const bench = new UpstreamBench();
  const skills = createSkills({
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
  });
  for (
    const call of [
      skills.list(bench.context()),
      skills.invoke({ skillId: "x", inputs: {} }, bench.run()),
    ]
  ) {
    const error = await refusal(call);
    assert.equal(error.code, "UPSTREAM_NOT_CONFIGURED");
    assert.match(
      error.hint,
      /SKILL_BROKER_ENDPOINT.*CYBEROS_SKILLS_DIR.*--embedded/,
    );
  }
  assert.equal((await skills.status(after(1_000))).state, "not configured");
});
