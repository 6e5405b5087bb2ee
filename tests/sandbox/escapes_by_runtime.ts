/** Turning the runtime itself against its limits. */
import { hostname, userInfo } from "node:os";
import process from "node:process";
import type { Escape } from "./escapes.ts";
import { SECRET, SECRET_NAME } from "./targets.ts";

const token = () => Deno.env.get("CYBEROS_ACCESS_TOKEN") === "a-token";

/** Runs a worker that reports whether it could read a file. */
async function workerReads(
  permissions: unknown,
  file: string,
): Promise<boolean> {
  const code = `try { Deno.readTextFileSync(${
    JSON.stringify(file)
  }); postMessage(true) } catch { postMessage(false) }`;
  const worker = new Worker(
    `data:application/javascript,${encodeURIComponent(code)}`,
    {
      type: "module",
      // deno-lint-ignore no-explicit-any -- outside the types, as in the launcher.
      deno: { permissions } as any,
    } as WorkerOptions,
  );
  const could = await new Promise<boolean>((resolve) =>
    worker.onmessage = ({ data }) => resolve(data)
  );
  worker.terminate();
  return could;
}

function workerStarts(url: string): Promise<void> {
  const worker = new Worker(url, { type: "module" });
  return new Promise<void>((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
  }).finally(() => worker.terminate());
}

/** Environment, native code, modules, threads, facts about the machine. */
export const escapesByRuntime: readonly Escape[] = [
  {
    name: "read a secret in the environment",
    attempt: () => Deno.env.get(SECRET_NAME) === SECRET,
    control: token,
  },
  {
    name: "list the environment",
    attempt: () => Object.values(Deno.env.toObject()).includes(SECRET),
    control: token,
  },
  {
    name: "read a secret through node:process",
    attempt: () => process.env[SECRET_NAME] === SECRET,
    control: () => process.env.CYBEROS_ACCESS_TOKEN === "a-token",
  },
  {
    name: "set a variable for later children",
    attempt: () => {
      Deno.env.set("LD_LIBRARY_PATH", "/x");
      return Deno.env.get("LD_LIBRARY_PATH") === "/x";
    },
    control: token,
  },
  {
    name: "load a native library",
    attempt: () =>
      Deno.dlopen("libc.so.6", {
        getpid: { parameters: [], result: "i32" },
      }).close(),
    control: token,
  },
  {
    name: "load a native Node add-on",
    attempt: ({ secretFile }) => {
      try {
        process.dlopen({ exports: {} }, secretFile);
      } catch (error) {
        // The file is no library: to have been opened is to have been reached.
        if (!/invalid ELF|too short/.test(String(error))) throw error;
      }
    },
    control: token,
  },
  {
    name: "start a worker with more rights",
    attempt: ({ secretFile }) =>
      workerReads({ read: true, net: true, run: true }, secretFile),
    control: ({ dataDir }) =>
      workerReads({ read: [dataDir] }, `${dataDir}/own.txt`),
  },
  {
    name: "start a worker that inherits, and read there",
    attempt: ({ secretFile }) => workerReads("inherit", secretFile),
    control: ({ dataDir }) => workerReads("inherit", `${dataDir}/own.txt`),
  },
  {
    name: "import code from another host",
    attempt: ({ otherOrigin }) => import(`${otherOrigin}/module.js`),
    control: () => import("data:application/javascript,export{}"),
  },
  {
    name: "import code from an allowed host",
    attempt: ({ allowedOrigin }) => import(`${allowedOrigin}/module.js`),
    control: () => import("data:application/javascript,export{}"),
  },
  {
    name: "import code from another file",
    attempt: ({ secretFile }) => import(`file://${secretFile}.js`),
    control: () => import("data:application/javascript,export{}"),
  },
  {
    name: "import data from another file",
    attempt: ({ secretFile }) =>
      import(`file://${secretFile}.json`, { with: { type: "json" } }),
    control: () => import("data:application/javascript,export{}"),
  },
  {
    name: "start a worker from another file",
    attempt: ({ secretFile }) => workerStarts(`file://${secretFile}.js`),
    control: () => workerStarts("data:application/javascript,postMessage(1)"),
  },
  {
    name: "ask for a permission",
    attempt: async () =>
      (await Deno.permissions.request({ name: "run" })).state === "granted",
    control: async ({ dataDir }) =>
      (await Deno.permissions.query({ name: "read", path: dataDir })).state ===
        "granted",
  },
  {
    name: "learn the host's name",
    attempt: () => Deno.hostname().length > 0,
    control: token,
  },
  {
    name: "learn the host's name through node:os",
    attempt: () => hostname().length > 0,
    control: token,
  },
  {
    name: "learn who runs it",
    attempt: () => userInfo().username.length > 0,
    control: token,
  },
  {
    name: "learn the machine's network addresses",
    attempt: () => Deno.networkInterfaces().length > 0,
    control: token,
  },
];
