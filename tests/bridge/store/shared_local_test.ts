/** Several processes on one embedded data folder. */
import assert from "node:assert/strict";
import type { BridgeError } from "../../../bridge/errors.ts";
import type { LocalDatabase } from "../../../bridge/store/local_database.ts";
import {
  endpointGrants,
  endpointKind,
  localEndpoint,
} from "../../../bridge/store/local_endpoint.ts";
import { openFolderLock } from "../../../bridge/store/folder_lock.ts";
import { resetDataFolder } from "../../../bridge/store/reset.ts";
import { joinFolder } from "../../../bridge/store/shared_local.ts";
import { newTaskId } from "../../../bridge/calls/task_id.ts";
import { eventually } from "./fixtures.ts";

type Answer = Readonly<Record<string, unknown>>;

/** A bridge's store in a process of its own. */
class Child {
  readonly heard: string[] = [];
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #reading: Promise<void>;
  #nextId = 0;

  constructor(dataDir: string) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--quiet",
        new URL("./local_child.ts", import.meta.url).pathname,
        dataDir,
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#reading = this.#read();
  }

  ask(request: Answer): Promise<Answer> {
    const id = this.#nextId++;
    const line = `${JSON.stringify({ id, ...request })}\n`;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#writer.write(new TextEncoder().encode(line)).catch(() => {});
    });
  }

  /** Rows, or an error's code; asked again while the database changes hands. */
  async sql(sql: string): Promise<readonly Answer[]> {
    for (let attempt = 0;; attempt++) {
      const { rows, code } = await this.ask({ sql });
      if (rows !== undefined) return rows as Answer[];
      assert.equal(code, "STORE_UNAVAILABLE", sql);
      assert.ok(attempt < 50, "the database never came back");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#reading;
    await this.#writer.abort().catch(() => {});
  }

  async end(): Promise<void> {
    await this.#writer.close();
    await this.#process.status;
    await this.#reading;
  }

  async #read(): Promise<void> {
    const lines = this.#process.stdout.pipeThrough(new TextDecoderStream());
    let text = "";
    for await (const chunk of lines) {
      text += chunk;
      const whole = text.split("\n");
      text = whole.pop() as string;
      for (const line of whole) {
        const answer = JSON.parse(line) as Answer & { id?: number };
        if (answer.notify !== undefined) this.heard.push(String(answer.notify));
        else this.#waiting.get(answer.id as number)?.(answer);
      }
    }
  }
}

async function withFolder(run: (dir: string) => Promise<void>): Promise<void> {
  const parent = await Deno.makeTempDir({ prefix: "cyberos-local-" });
  try {
    await run(`${parent}/data`);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

const TENANT = crypto.randomUUID();
const create = (id: string): string =>
  `select plugin_host.task_create('${TENANT}', 's', '${id}', 'p', 't', '{}', '${
    "0".repeat(32)
  }', null, '', 60000, 120000, 1000, 'i', 15000, '{"running_per_subject":1000,"running_per_tenant":1000,"kept_per_subject":1000,"kept_per_tenant":1000}', false) ->> 'outcome' as outcome`;
const COUNT =
  `select json_array_length(plugin_host.task_list('${TENANT}', 's', null, null, 1000)) as n`;

Deno.test("several bridges share a data folder, survive a killed leader and lose no acknowledged row", async () => {
  await withFolder(async (dir) => {
    const children = [new Child(dir), new Child(dir), new Child(dir)];
    try {
      await Promise.all(children.map((child) => child.sql("select 1")));
      const [first, second, third] = children as [Child, Child, Child];
      await Promise.all(children.map((child) => child.ask({ listen: "ch" })));
      // A follower's LISTEN is on its way for a moment after it was asked for.
      await eventually(async () => {
        await second.sql("select pg_notify('ch', 'hello')");
        return children.every(({ heard }) => heard.includes("hello"));
      });
      const mode = async (name: string): Promise<string> =>
        ((await Deno.stat(`${dir}${name}`)).mode ?? 0).toString(8).slice(-3);
      assert.equal(await mode(""), "700");
      assert.equal(await mode("/store.sock"), "600");
      let acknowledged = 0;
      for (const child of children) {
        for (let index = 0; index < 5; index++) {
          await child.sql(create(newTaskId()));
          acknowledged++;
        }
      }
      // Two lives end: whichever process leads, killing two of three meets it at least once.
      for (const victim of [first, second]) {
        await victim.kill();
        const rows = await third.sql(COUNT);
        assert.deepEqual(rows, [{ n: acknowledged }]);
        await third.sql(create(newTaskId()));
        acknowledged++;
      }
      third.heard.length = 0;
      await eventually(async () => {
        await third.sql("select pg_notify('ch', 'still')");
        return third.heard.includes("still");
      });
      const late = new Child(dir);
      children.push(late);
      assert.deepEqual(await late.sql(COUNT), [{ n: acknowledged }]);
      await third.end();
      assert.deepEqual(await late.sql(COUNT), [{ n: acknowledged }]);
      await late.end();
    } finally {
      for (const child of children) await child.kill().catch(() => {});
    }
  });
});

/** A database that says who it is. */
function fakeDatabase(name: string): LocalDatabase {
  const ended = Promise.withResolvers<void>();
  const database: LocalDatabase = {
    onNotify: () => {},
    ended: ended.promise,
    query: (statement) => {
      if (statement !== "big") return Promise.resolve([{ name, statement }]);
      return Promise.resolve([{ text: "x".repeat(3_000_000) + "ü" }]);
    },
    listen: (channel) => database.onNotify(channel, "listening"),
    close: () => {
      ended.resolve();
      return Promise.resolve();
    },
  };
  return database;
}

for (const kind of ["unix", "tcp"] as const) {
  Deno.test(`the first bridge leads, the next follow, over ${kind}`, async () => {
    await withFolder(async (dir) => {
      const join = (name: string) =>
        joinFolder(dir, {
          kind,
          open: () => Promise.resolve(fakeDatabase(name)),
        });
      const leader = await join("a");
      const [follower, other] = [await join("b"), await join("c")];
      const nameOf = async (database: LocalDatabase): Promise<unknown> =>
        (await database.query("select 1", []))[0]?.name;
      assert.equal(await nameOf(follower), "a");
      const [big] = await follower.query("big", []);
      assert.equal(String(big?.text).length, 3_000_001);
      const heard: string[] = [];
      follower.onNotify = (channel) => heard.push(channel);
      other.onNotify = () => heard.push("not asked for");
      follower.listen("ch");
      await eventually(() => heard.length > 0);
      assert.deepEqual(heard, ["ch"]);
      const inFlight = follower.ended;
      await leader.close();
      await inFlight;
      await assert.rejects(nameOf(follower));
      const next = await join("d");
      assert.equal(await nameOf(next), "d", "and another takes over");
      await Promise.all([next.close(), other.close()]);
    });
  });
}

Deno.test("over a port, nobody gets in without the file's secret", async () => {
  await withFolder(async (dir) => {
    const leader = await joinFolder(dir, {
      kind: "tcp",
      open: () => Promise.resolve(fakeDatabase("a")),
    });
    const { connection, secret } = await localEndpoint(dir, "tcp").connect();
    const { mode } = await Deno.stat(`${dir}/store.port`);
    assert.equal((mode ?? 0) & 0o077, 0);
    assert.ok(secret.length > 60);
    const line = JSON.stringify({
      hello: 1,
      secret: secret.replace(/^./, (char) => char === "0" ? "1" : "0"),
      schema: 1,
    });
    await connection.write(
      new TextEncoder().encode(
        `${line}\n{"id":0,"statement":"x","parameters":[]}\n`,
      ),
    );
    const buffer = new Uint8Array(100);
    const n = await connection.read(buffer).catch(() => null);
    assert.equal(n, null, "it is hung up on");
    connection.close();
    await leader.close();
  });
});

Deno.test("two versions do not share a folder, and the hint says what to do", async () => {
  await withFolder(async (dir) => {
    const open = () => Promise.resolve(fakeDatabase("a"));
    const leader = await joinFolder(dir, { open, schema: 1 });
    await assert.rejects(
      joinFolder(dir, { open, schema: 2 }),
      (error: BridgeError) => /another version.*restart it/.test(error.hint),
    );
    await leader.close();
  });
});

/** What the leader answers to lines, until it hangs up or is silent for a while. */
async function answersTo(
  connection: Deno.Conn,
  text: string,
): Promise<{ text: string; hungUp: boolean }> {
  await connection.write(new TextEncoder().encode(text)).catch(() => {});
  const timer = setTimeout(() => connection.close(), 500);
  const buffer = new Uint8Array(4096);
  let heard = "";
  try {
    for (;;) {
      const n = await connection.read(buffer);
      if (n === null) return { text: heard, hungUp: true };
      heard += new TextDecoder().decode(buffer.subarray(0, n));
    }
  } catch (error) {
    const reset = error instanceof Deno.errors.ConnectionReset;
    return { text: heard, hungUp: reset };
  } finally {
    clearTimeout(timer);
  }
}

Deno.test("a bridge of another version is refused, and its statements are not run", async () => {
  await withFolder(async (dir) => {
    const open = () => Promise.resolve(fakeDatabase("a"));
    const leader = await joinFolder(dir, { open, schema: 1, kind: "tcp" });
    const { connection, secret } = await localEndpoint(dir, "tcp").connect();
    const hello = JSON.stringify({ hello: 1, secret, schema: 2 });
    const { text } = await answersTo(
      connection,
      `${hello}\n{"id":0,"statement":"x","parameters":[]}\n`,
    );
    assert.match(text, /"refused"/);
    assert.doesNotMatch(text, /"rows"/);
    await leader.close();
  });
});

Deno.test("over a port, a stranger holds neither memory nor a place", async () => {
  await withFolder(async (dir) => {
    const leader = await joinFolder(dir, {
      kind: "tcp",
      open: () => Promise.resolve(fakeDatabase("a")),
      helloMs: 100,
    });
    const long = await localEndpoint(dir, "tcp").connect();
    const flood = await answersTo(long.connection, "x".repeat(100_000));
    assert.deepEqual(flood, { text: "", hungUp: true });
    const odd = await localEndpoint(dir, "tcp").connect();
    assert.deepEqual(await answersTo(odd.connection, "1\n"), {
      text: "",
      hungUp: true,
    });
    const mute = await localEndpoint(dir, "tcp").connect();
    const silence = await answersTo(mute.connection, "");
    assert.deepEqual(silence, { text: "", hungUp: true });
    const follower = await joinFolder(dir, { kind: "tcp" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [row] = await follower.query("select 1", []);
    assert.equal(row?.name, "a", "who said hello stays");
    await follower.close();
    await leader.close();
  });
});

Deno.test("a folder that somebody else holds, and damaged data, are refused with a hint", async () => {
  await withFolder(async (dir) => {
    await Deno.mkdir(dir);
    const lock = await openFolderLock(dir);
    assert.equal(await lock.tryAcquire(), true);
    await assert.rejects(
      joinFolder(dir, { patienceMs: 200 }),
      (error: BridgeError) => /--data-dir/.test(error.hint),
    );
    lock.release();
    await Deno.mkdir(`${dir}/db`);
    await Deno.writeTextFile(`${dir}/db/PG_VERSION`, "9\n");
    await assert.rejects(
      joinFolder(dir),
      (error: BridgeError) =>
        error.code === "STORE_UNAVAILABLE" &&
        /reset --embedded/.test(error.hint),
    );
    const after = await openFolderLock(dir);
    assert.equal(await after.tryAcquire(), true, "and it is free again");
    after.release();
  });
});

Deno.test("reset removes what is ours, and nothing while a bridge uses it", async () => {
  await withFolder(async (dir) => {
    assert.equal((await resetDataFolder(dir)).done, true, "nothing there");
    const leader = await joinFolder(dir, {
      open: async (path) => {
        await Deno.mkdir(path);
        return fakeDatabase("a");
      },
    });
    await Deno.writeTextFile(`${dir}/thesis.txt`, "not ours");
    await Deno.writeTextFile(`${dir}/issuer-key.json`, "{}");
    const busy = await resetDataFolder(dir);
    assert.equal(busy.done, false);
    assert.match(busy.message, /a bridge uses it/);
    await leader.close();
    assert.equal((await resetDataFolder(dir)).done, true);
    const left = [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
    assert.deepEqual(left, ["lock", "thesis.txt"]);
  });
});

Deno.test("the endpoint is a socket where it can be, and asks for exactly its permission", () => {
  assert.equal(endpointKind("/home/ann/.local/share/cyberos", "linux"), "unix");
  assert.equal(endpointKind("/x", "windows"), "tcp");
  const long = `/${"x".repeat(120)}`;
  assert.equal(endpointKind(long, "linux"), "tcp");
  assert.deepEqual(endpointGrants(long), ["127.0.0.1"]);
  if (Deno.build.os !== "windows") {
    assert.deepEqual(endpointGrants("/d", "2.9.6"), ["unix:/d/store.sock"]);
    assert.deepEqual(endpointGrants("/d", "2.6.8"), []);
  }
});
