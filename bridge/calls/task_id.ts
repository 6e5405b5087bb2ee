/** Names of tasks. */

const PATTERN = /^t-[A-Za-z0-9_-]{22,64}$/;

/** A new id: `t-` and 144 random bits, so that nobody can guess another one's. */
export function newTaskId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return `t-${
    btoa(String.fromCharCode(...bytes)).replaceAll("+", "-")
      .replaceAll("/", "_")
  }`;
}

/** Whether a text can be a task's id at all. */
export function isTaskId(text: string): boolean {
  return PATTERN.test(text);
}
