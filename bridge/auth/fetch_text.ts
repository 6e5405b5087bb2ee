/** Options of {@link fetchText}. */
export interface FetchTextOptions {
  readonly fetch: typeof fetch;
  /** For head and body together. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/**
 * Fetches a small document. Redirects are not followed: the address comes from
 * the configuration and so does its trust.
 *
 * @throws {Error} Where the answer is not a 200, too large, late or not UTF-8.
 */
export async function fetchText(
  url: string,
  options: FetchTextOptions,
): Promise<string> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const response = await options.fetch(url, {
    redirect: "manual",
    headers: { accept: "application/json" },
    signal: options.signal
      ? AbortSignal.any([timeout, options.signal])
      : timeout,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`Answer has status ${response.status}`);
  }
  return await readText(response, options.maxBytes);
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the body.
    if (size > maxBytes) throw new Error(`Answer is over ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
