import assert from "node:assert/strict";
import { connect } from "./bridge_process.ts";

const SKILL = "---\nname: weigh-options\ndescription: Weighs.\n---\nWeigh.\n";

async function idsWith(env: Record<string, string>): Promise<unknown> {
  await using bridge = await connect(["--embedded", "--ephemeral"], env);
  const { skills } = await bridge.call("cyberos.skill.list_catalog");
  return (skills as { skill_id: string }[]).map(({ skill_id }) => skill_id);
}

Deno.test("the sandbox lets the bridge read the skills of a checkout, and a folder behind a link", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const skills = `${dir}/checkout/modules/skill`;
    await Deno.mkdir(`${skills}/weigh-options`, { recursive: true });
    await Deno.writeTextFile(`${skills}/weigh-options/SKILL.md`, SKILL);
    await Deno.symlink(`${dir}/checkout`, `${dir}/current`);
    await Deno.symlink(skills, `${dir}/skills`);
    for (
      const [name, path] of [
        ["CYBEROS_ROOT", `${dir}/checkout`],
        ["CYBEROS_ROOT", `${dir}/current`],
        ["CYBEROS_SKILLS_DIR", `${dir}/skills`],
      ] as const
    ) {
      const ids = await idsWith({ [name]: path });
      assert.deepEqual(ids, ["weigh-options"], `${name}=${path}`);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
