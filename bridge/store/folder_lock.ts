/** Who has a data folder: one process at a time, for as long as it lives. */

/** A lock on a folder. The system releases it when the process ends, however it does. */
export interface FolderLock {
  /** Whether this process has the lock now. */
  tryAcquire(): Promise<boolean>;
  release(): void;
}

// Deno has it from 2.9 on.
interface NonBlocking {
  readonly tryLock?: (exclusive: boolean) => Promise<boolean>;
}

// How long the blocking lock of older Deno versions is given to succeed.
const BLOCKING_MS = 100;

/** Makes the lock of a folder; nobody has it by that. */
export async function openFolderLock(dataDir: string): Promise<FolderLock> {
  const file = await Deno.open(`${dataDir}/lock`, {
    create: true,
    read: true,
    write: true,
    mode: 0o600,
  });
  // Where there is only waiting for a lock, the wait goes on between tries.
  let waiting: Promise<boolean> | undefined;
  return {
    async tryAcquire() {
      const { tryLock } = file as NonBlocking;
      if (tryLock !== undefined) return await tryLock.call(file, true);
      waiting ??= file.lock(true).then(() => true, () => false);
      return await Promise.race([
        waiting,
        new Promise<false>((resolve) =>
          setTimeout(() => resolve(false), BLOCKING_MS)
        ),
      ]);
    },
    release() {
      file.close();
    },
  };
}
