import assert from "node:assert/strict";
import { createProcessClient } from "../../../bridge/sandbox/process_client.ts";
import {
  createProcessService,
  isProcessRequest,
} from "../../../bridge/sandbox/process_service.ts";
import type {
  ProcessEntry,
  ProcessRef,
} from "../../../bridge/upstream/cuo/process_tree.ts";

const OWN = 100;
const TABLE: readonly ProcessEntry[] = [
  { pid: 1, parent: 0, group: 1, session: 1, started: "0" },
  { pid: OWN, parent: 1, group: OWN, session: OWN, started: "5" },
  { pid: 200, parent: OWN, group: 200, session: OWN, started: "6" },
  { pid: 201, parent: 200, group: 200, session: OWN, started: "7" },
  { pid: 300, parent: 1, group: 300, session: 300, started: "8" },
  { pid: 301, parent: 300, group: 300, session: 300, started: "9" },
];

function service() {
  const killed: ProcessRef[] = [];
  const answer = createProcessService({
    ownPid: OWN,
    read: () => Promise.resolve(TABLE),
    kill: (processes) => {
      killed.push(...processes);
      return Promise.resolve(processes.length);
    },
  });
  return { answer, killed };
}

Deno.test("the process service finds and ends what a child of ours has started", async () => {
  const { answer, killed } = service();
  const { found } = await answer({
    type: "processes",
    id: 1,
    ask: "descendants",
    pid: 200,
  });
  assert.deepEqual(found, [{ pid: 201, started: "7" }]);
  const reply = await answer({
    type: "processes",
    id: 2,
    ask: "kill",
    processes: found,
  });
  assert.deepEqual(reply, { type: "processes", id: 2, found: [], killed: 1 });
  assert.deepEqual(killed, [{ pid: 201, started: "7" }]);
});

Deno.test("the process service touches no process that is not below a child of ours", async () => {
  const { answer, killed } = service();
  for (const pid of [1, OWN, 300, 999]) {
    const { found } = await answer({
      type: "processes",
      id: 1,
      ask: "descendants",
      pid,
    });
    assert.deepEqual(found, [], String(pid));
  }
  const strangers = [{ pid: 301, started: "9" }, { pid: 1, started: "0" }, {
    pid: OWN,
    started: "5",
  }];
  await answer({ type: "processes", id: 2, ask: "kill", processes: strangers });
  assert.deepEqual(killed, []);
  const { found } = await answer({
    type: "processes",
    id: 3,
    ask: "descendants",
    pid: 200,
  });
  const renamed = found.map(({ pid }) => ({ pid, started: "later" }));
  await answer({ type: "processes", id: 4, ask: "kill", processes: renamed });
  assert.deepEqual(killed, [], "a number given anew is another process");
});

Deno.test("the process service kills again what does not die at once", async () => {
  const { answer, killed } = service();
  const ask = { type: "processes", id: 1 } as const;
  const { found } = await answer({ ...ask, ask: "descendants", pid: 200 });
  for (let time = 0; time < 3; time++) {
    await answer({ ...ask, ask: "kill", processes: found });
  }
  assert.equal(killed.length, 3);
});

Deno.test("the process service still ends processes after any number of children", async () => {
  let pid = 1_000;
  const killed: ProcessRef[] = [];
  const answer = createProcessService({
    ownPid: OWN,
    read: () =>
      Promise.resolve([
        ...TABLE.slice(0, 3),
        { pid, parent: 200, group: 200, session: OWN, started: `${pid}` },
      ]),
    kill: (processes) => {
      killed.push(...processes);
      return Promise.resolve(processes.length);
    },
  });
  const ask = { type: "processes", id: 1 } as const;
  for (; pid < 12_000; pid++) {
    await answer({ ...ask, ask: "descendants", pid: 200 });
  }
  const { found } = await answer({ ...ask, ask: "descendants", pid: 200 });
  const gone = [{ pid: 1_000, started: "1000" }];
  await answer({ ...ask, ask: "kill", processes: [...found, ...gone] });
  assert.deepEqual(killed, [{ pid: 12_000, started: "12000" }]);
});

Deno.test("the launcher believes only well-formed requests", () => {
  const good = { type: "processes", id: 1, ask: "descendants", pid: 2 };
  assert.ok(isProcessRequest(good));
  assert.ok(
    isProcessRequest({ type: "processes", id: 1, ask: "kill", processes: [] }),
  );
  for (
    const bad of [
      null,
      "x",
      { ...good, id: "1" },
      { ...good, pid: "2" },
      { ...good, pid: 1.5 },
      { ...good, ask: "spawn" },
      { type: "processes", id: 1, ask: "kill", processes: [{ pid: 1 }] },
      { type: "processes", id: 1, ask: "kill", processes: [null] },
      { type: "processes", id: 1, ask: "kill", processes: 7 },
    ]
  ) assert.equal(isProcessRequest(bad), false, JSON.stringify(bad));
});

Deno.test("the client and the service speak to each other", async () => {
  const { answer, killed } = service();
  const client = createProcessClient((request) =>
    void answer(request).then(client.settle)
  );
  const found = await client.descendants(200);
  assert.equal(await client.kill(found), 1);
  assert.equal(await client.kill([]), 0);
  assert.equal(killed.length, 1);
});
