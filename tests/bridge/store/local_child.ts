/** A process that shares a data folder: runs the SQL that stdin asks for, a JSON line each. */
import { createEmbeddedDriver } from "../../../bridge/store/embedded.ts";
import { FakeLogger } from "../../support/fake_logger.ts";

const driver = createEmbeddedDriver({
  dataDir: Deno.args[0],
  logger: new FakeLogger(),
});
const write = (value: unknown): void => {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
};

let text = "";
for await (
  const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())
) {
  text += chunk;
  const lines = text.split("\n");
  text = lines.pop() as string;
  for (const line of lines) void answer(JSON.parse(line));
}
await driver.close();

async function answer(
  { id, listen, sql, parameters }: {
    readonly id: number;
    readonly listen?: string;
    readonly sql?: string;
    readonly parameters?: readonly string[];
  },
): Promise<void> {
  try {
    if (listen !== undefined) {
      await driver.listen(
        listen,
        (payload) => write({ notify: payload }),
        () => write({ id, ready: true }),
      );
      return;
    }
    write({ id, rows: await driver.query(sql ?? "", parameters ?? []) });
  } catch (error) {
    const { code, hint } = error as { code?: string; hint?: string };
    write({ id, code: code ?? String(error), hint });
  }
}
