/** The bundle's README: what it is, what is in it, how to install it. */
import type { Host, HostInput } from "./host.ts";
import { BRIDGE_PROGRAM } from "./host.ts";

/** Markdown for the people who unpack the bundle. */
export function readmeText(host: Host, input: HostInput): string {
  const { id, name, version, description, license } = input.manifest;
  return [
    `# ${line(name)}`,
    "",
    line(description),
    "",
    `Version ${version} for ${host.title}, under ${license}.`,
    "",
    "## Install",
    "",
    ...host.install(id),
    "",
    ...bridgeLines(input),
    "",
    "To see who made this bundle and whether it is unchanged, run",
    "`cyberos-plugin doctor` on it before you install it.",
    "",
    ...contentLines(host, input),
  ].join("\n");
}

function bridgeLines({ bridgePath }: HostInput): readonly string[] {
  const program = bridgePath === undefined
    ? [
      `The host starts \`${BRIDGE_PROGRAM}\` from PATH: install that program first.`,
    ]
    : [`The host starts \`${bridgePath}\`, which is part of the bundle.`];
  return [
    ...program,
    "It signs in to CyberOS with the token in `CYBEROS_ACCESS_TOKEN`, or in the",
    "file that `CYBEROS_TOKEN_FILE` names; without one it lists its tools and says",
    "what is missing when one is called.",
  ];
}

function contentLines(host: Host, { manifest }: HostInput): readonly string[] {
  const commands = manifest.commands?.map(({ name }) => name) ?? [];
  const skills = manifest.skills?.map(({ id }) => id) ?? [];
  return [
    "## Content",
    "",
    ...manifest.tools.map(({ name }) => `- tool \`${name}\``),
    ...commands.map((name) =>
      `- ${host.commandsAsSkills ? "skill" : "command"} \`${
        host.commandsAsSkills ? name.slice(1) : name
      }\``
    ),
    ...(host.skills ? skills.map((name) => `- skill \`${name}\``) : []),
    "",
  ];
}

function line(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
