/** Packing whole bundles as whole processes, beside the programs that people know. */
import { FILES, MANIFEST_NAME, sourceManifest } from "./pack_source.ts";
import type { Bench } from "./row.ts";
import { median, npmPeers, paired, processMs, ROOT } from "./support.ts";

const RUNS = 15;
const LARGE_RUNS = 3;
const PYTHON = `
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED, compresslevel=6) as out:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            out.write(os.path.join(folder, name))
`;

/** The program's command line. */
function packArgs(source: string, out: string): string[] {
  return [
    "run",
    "--quiet",
    "--no-prompt",
    "--allow-read",
    "--allow-write",
    "--allow-env=NO_COLOR,FORCE_COLOR,TERM",
    `${ROOT}cli.ts`,
    "pack",
    `${source}/${MANIFEST_NAME}`,
    "--out",
    out,
  ];
}

/** A plugin's folder of so many files of so many bytes each, most of them a skill's references. */
async function makeSource(
  root: string,
  count: number,
  size: number,
): Promise<string> {
  const source = `${root}/source-${count}`;
  const texts = new Map<string, string>(Object.entries(FILES));
  texts.set(MANIFEST_NAME, sourceManifest());
  const words = textOf(size * 2);
  for (let i = 0; texts.size < count; i++) {
    const at = (i * 7919) % size;
    texts.set(
      `skills/read-trail/references/f${i}.md`,
      words.slice(at, at + size),
    );
  }
  for (const [path, text] of texts) {
    const file = `${source}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
  return source;
}

// Prose of a kind: words with repetition, and figures without.
function textOf(size: number): string {
  const words = "the audit persona workflow skill memory plugin manifest bundle"
    .split(" ");
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 16;
  };
  const parts: string[] = [];
  for (let length = 0; length < size;) {
    const figure = next() % 5 === 0 ? next().toString(36) : "";
    const part = `${words[next() % words.length]}${figure}${
      next() % 13 === 0 ? "\n" : " "
    }`;
    parts.push(part);
    length += part.length;
  }
  return parts.join("").slice(0, size);
}

/** Pack beside `zip`, `mcpb pack` and Python's `zipfile`. */
export const bench: Bench = async (report) => {
  const root = await Deno.makeTempDir();
  try {
    await small(root, report);
    await large(root, report);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
};

async function small(
  root: string,
  report: Parameters<Bench>[0],
): Promise<void> {
  const source = await makeSource(root, 50, 10_400);
  const ours = () =>
    processMs(Deno.execPath(), packArgs(source, `${root}/out`));
  const zip = async () => {
    const target = `${root}/peer.zip`;
    await Deno.remove(target).catch(() => {});
    return await processMs("zip", ["-X", "-6", "-q", "-r", target, "."], {
      cwd: source,
    });
  };
  report({
    name: "pack 50 files of 500 KB, beside `zip -X -6`",
    ...await paired(RUNS, ours, zip),
    unit: "ms",
    aim: "at most 3×",
  });
  const mcpb = await mcpbPack(root, source);
  report({
    name: "pack 50 files of 500 KB, beside `mcpb pack`",
    ...await paired(RUNS, ours, mcpb),
    unit: "ms",
    aim: "below 1×",
  });
}

/** The same files with the manifest that mcpb wants. */
async function mcpbPack(
  root: string,
  source: string,
): Promise<() => Promise<number>> {
  const peers = await npmPeers(["@anthropic-ai/mcpb@2.1.2"]);
  const copy = `${root}/mcpb`;
  await new Deno.Command("cp", { args: ["-r", source, copy] }).output();
  const manifest = {
    manifest_version: "0.3",
    name: "acme-trail",
    version: "1.2.3",
    description: "Reads the audit memory.",
    author: { name: "Acme" },
    server: {
      type: "binary",
      entry_point: "server/bridge",
      mcp_config: { command: "${__dirname}/server/bridge", args: [] },
    },
  };
  await Deno.writeTextFile(`${copy}/manifest.json`, JSON.stringify(manifest));
  const program = `${peers}/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js`;
  return () => processMs("node", [program, "pack", copy, `${root}/peer.mcpb`]);
}

async function large(
  root: string,
  report: Parameters<Bench>[0],
): Promise<void> {
  const source = await makeSource(root, 5_000, 40_000);
  const args = packArgs(source, `${root}/out`);
  const target = `${root}/python.zip`;
  const peerArgs = ["-c", PYTHON, source, target];
  const times = await paired(
    LARGE_RUNS,
    () => processMs(Deno.execPath(), args),
    () => processMs("python3", peerArgs),
  );
  report({
    name: "pack 5,000 files of 200 MB, beside Python's zipfile",
    ours: times.ours / 1000,
    peer: times.peer / 1000,
    unit: "s",
    aim: "at most 2×",
  });
  const ours = median([await peakMb(Deno.execPath(), args)]);
  report({
    name: "memory at its peak meanwhile, beside the 200 MB that are packed",
    ours,
    peer: 200,
    unit: "MB",
    aim: "at most 1×",
  });
}

/** Largest resident size of a process, seen every 20 ms. */
async function peakMb(
  command: string,
  args: readonly string[],
): Promise<number> {
  const child = new Deno.Command(command, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let peak = 0;
  let running = true;
  const ended = child.status.then(() => running = false);
  while (running) {
    const status = await Deno.readTextFile(`/proc/${child.pid}/status`)
      .catch(() => "");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await ended;
  if (peak === 0) throw new Error("no /proc to read a process's memory from");
  return peak / 1024;
}
