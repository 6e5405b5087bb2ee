/// <reference lib="webworker" />
/** A bridge gone wrong: it lies to its launcher, says that it is ready, and never comes back. */
self.postMessage({ type: "launch", command: "serve" });
self.postMessage({ type: "exit", code: "0" });
self.postMessage({ type: "exit", code: 4000 });
Deno.stdout.writeSync(new TextEncoder().encode("looping\n"));
for (;;);
