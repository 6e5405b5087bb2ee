/** List cursors: opaque, and worthless to anybody but the owner who was given them. */
import { BridgeError } from "../errors.ts";
import type { TaskOwner } from "../ports.ts";

/** A row's place in the list: creation time in microseconds, and id. */
export interface TaskPlace {
  readonly us: number;
  readonly id: string;
}

const MAC_BYTES = 16;

/** Seals and opens cursors with one key. */
export interface CursorSealer {
  seal(place: TaskPlace, owner: TaskOwner): Promise<string>;
  /** @throws {BridgeError} `PARAMS_INVALID` for anything that `seal` did not make for this owner. */
  open(cursor: string, owner: TaskOwner): Promise<TaskPlace>;
}

/** Makes a sealer; `secret` is the same on every instance. */
export async function createCursorSealer(
  secret: string,
): Promise<CursorSealer> {
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const mac = async (body: string, owner: TaskOwner): Promise<Uint8Array> => {
    const message = JSON.stringify([body, owner.tenantId, owner.subject]);
    const full = await crypto.subtle.sign("HMAC", key, encoder.encode(message));
    return new Uint8Array(full, 0, MAC_BYTES);
  };
  return {
    async seal({ us, id }, owner) {
      const body = `${us}.${id}`;
      return toBase64Url(encoder.encode(body), await mac(body, owner));
    },
    async open(cursor, owner) {
      const bytes = fromBase64Url(cursor);
      if (bytes === undefined || bytes.length <= MAC_BYTES) throw notOurs();
      const body = new TextDecoder().decode(bytes.subarray(MAC_BYTES));
      const expected = await mac(body, owner);
      let difference = 0;
      expected.forEach((byte, index) => {
        difference |= byte ^ (bytes[index] as number);
      });
      const match = /^(\d{1,17})\.(t-[A-Za-z0-9_-]+)$/.exec(body);
      if (difference !== 0 || match === null) throw notOurs();
      return { us: Number(match[1]), id: match[2] as string };
    },
  };
}

function notOurs(): BridgeError {
  return new BridgeError(
    "PARAMS_INVALID",
    "Cannot continue the list: the cursor is not valid",
    {
      hint: "Send the nextCursor of the previous page unchanged, or none.",
      data: {
        errors: [{
          json_pointer: "/cursor",
          constraint: "cursor",
          message: "Is not a cursor of this list",
        }],
      },
    },
  );
}

function toBase64Url(body: Uint8Array, mac: Uint8Array): string {
  let binary = "";
  for (const byte of mac) binary += String.fromCharCode(byte);
  for (const byte of body) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array | undefined {
  if (text.length > 256 || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
