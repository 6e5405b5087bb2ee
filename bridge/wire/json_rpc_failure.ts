/** An error object that is already as the caller shall see it. */
import type { TaskFailure } from "../types.ts";

/** What a task failed with, answered again unchanged. */
export class JsonRpcFailure extends Error {
  override readonly name = "JsonRpcFailure";
  /** The error object, answered as it is. */
  readonly failure: TaskFailure;

  /** @param failure What the task failed with. */
  constructor(failure: TaskFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
