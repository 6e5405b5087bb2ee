import assert from "node:assert/strict";
import { openPglite } from "../../../bridge/store/pglite.ts";
import { eventually } from "./fixtures.ts";

Deno.test("openPglite() hears each NOTIFY once, however many bridges have come and asked for it", async () => {
  const database = await openPglite();
  try {
    const heard: string[] = [];
    database.onNotify = (channel, payload) =>
      heard.push(`${channel} ${payload}`);
    for (let bridge = 0; bridge < 5; bridge++) database.listen("ch");
    database.listen("other");
    await database.query("select pg_notify('ch', 'a')", []);
    await database.query("select pg_notify('other', 'b')", []);
    await eventually(() => heard.includes("other b"));
    assert.deepEqual(heard, ["ch a", "other b"]);
  } finally {
    await database.close();
  }
});
