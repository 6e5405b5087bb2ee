/** One stack for a whole test file: making keys and certificates takes a while. */
import type { SigningStack } from "./stack.ts";
import { type StackOptions, startSigningStack } from "./stack.ts";

/** A stack that starts at first use and ends with the last test. */
export interface SharedStack {
  stack(): Promise<SigningStack>;
}

/**
 * Lets the tests of a file share a stack. The server runs across tests, so it
 * is closed after all of them.
 */
export function shareSigningStack(options: StackOptions = {}): SharedStack {
  let started: Promise<SigningStack> | undefined;
  Deno.test.beforeAll(() => {
    started = startSigningStack(options);
  });
  Deno.test.afterAll(async () => {
    await (await started)?.close();
  });
  return {
    stack: () => started ?? Promise.reject(new Error("No stack yet")),
  };
}
