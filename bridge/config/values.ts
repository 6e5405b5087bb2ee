/** How a setting's text becomes a typed value, and what is wrong when it does not. */
import { parsePostgresUrl } from "../store/postgres_url.ts";

/** A kind of value: its name in help texts and its parser. */
export interface ValueKind<T> {
  /** What a person should give, such as `an integer from 1 to 10`. */
  readonly wants: string;
  /** Word for the value in usage lines, such as `URL`. Empty for a switch. */
  readonly placeholder: string;
  /** @returns The value, or `undefined` when the text is not of this kind. */
  parse(text: string): T | undefined;
}

/** Any text but the empty one. */
export function text(placeholder: string): ValueKind<string> {
  return {
    wants: "a text that is not empty",
    placeholder,
    parse: (value) => value.trim() === "" ? undefined : value,
  };
}

/** One of some words. */
export function choice<T extends string>(words: readonly T[]): ValueKind<T> {
  return {
    wants: `one of ${words.join(", ")}`,
    placeholder: words.join("|"),
    parse: (value) => words.find((word) => word === value),
  };
}

/** A whole number in a range. */
export function integer(min: number, max: number): ValueKind<number> {
  return {
    wants: `a whole number from ${min} to ${max}`,
    placeholder: "N",
    parse(value) {
      if (!/^\d{1,15}$/.test(value)) return undefined;
      const number = Number(value);
      return number >= min && number <= max ? number : undefined;
    },
  };
}

/** A switch: alone on the command line, `1`/`true` or `0`/`false` elsewhere. */
export const SWITCH: ValueKind<boolean> = {
  wants: "true or false",
  placeholder: "",
  parse: (value) =>
    ["true", "1"].includes(value)
      ? true
      : ["false", "0"].includes(value)
      ? false
      : undefined,
};

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a URL's `hostname` is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** An http(s) URL, without a trailing slash; plain http on loopback only. */
export const HTTP_URL: ValueKind<string> = {
  wants: "an https URL without user, query or fragment (http on loopback only)",
  placeholder: "URL",
  parse(value) {
    const url = URL.parse(value);
    if (url === null || url.username !== "" || url.password !== "") {
      return undefined;
    }
    if (url.search !== "" || url.hash !== "") return undefined;
    const safe = url.protocol === "https:" ||
      (url.protocol === "http:" && isLoopback(url.hostname));
    return safe ? value.replace(/\/+$/, "") : undefined;
  },
};

/**
 * An issuer, kept byte for byte: RFC 9068 compares it exactly, a slash at the
 * end included.
 */
export const ISSUER: ValueKind<string> = {
  ...HTTP_URL,
  parse: (value) => HTTP_URL.parse(value) === undefined ? undefined : value,
};

/** A PostgreSQL connection URL: what the driver cannot read is refused before the first task. */
export const POSTGRES_URL: ValueKind<string> = {
  wants:
    "a URL like postgres://user:password@host:5432/database, with sslmode one of disable, prefer, require, verify-full",
  placeholder: "URL",
  parse(value) {
    try {
      parsePostgresUrl(value);
      return value;
    } catch {
      return undefined;
    }
  },
};

/** An address to listen on. */
export interface ListenAddress {
  /** A name or an address, IPv6 without brackets. */
  readonly hostname: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** `host:port`, with an IPv6 host in brackets. */
export const LISTEN: ValueKind<ListenAddress> = {
  wants: "host:port, such as 127.0.0.1:8082 or [::1]:8082",
  placeholder: "HOST:PORT",
  parse(value) {
    const match = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(value);
    if (match === null) return undefined;
    const port = Number(match[2]);
    const hostname = (match[1] as string).replace(/^\[|\]$/g, "");
    return port <= 65535 ? { hostname, port } : undefined;
  },
};

/** Comma-separated values of one kind; a repeated flag adds to the list. */
export function list<T>(kind: ValueKind<T>): ValueKind<readonly T[]> {
  return {
    wants: `${kind.wants}; several separated by commas`,
    placeholder: kind.placeholder,
    parse(value) {
      const parts = value.split(",").map((part) => part.trim()).filter((part) =>
        part !== ""
      );
      const values = parts.map((part) => kind.parse(part));
      return values.includes(undefined) ? undefined : values as T[];
    },
  };
}

/** A signature algorithm that uses a public key: never `none`, never a shared secret. */
export const JWT_ALGORITHM: ValueKind<string> = choice([
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
]);

/** A browser origin: exact, or every subdomain of one host by `https://*.example.com`. */
export const ORIGIN: ValueKind<string> = {
  wants:
    "an origin such as https://app.example.com or https://*.example.com, never * or null",
  placeholder: "ORIGIN",
  parse(value) {
    const plain = value.replace(/^(https:\/\/)\*\./, "$1");
    // A URL parser takes `https://*` for a host of that name.
    if (plain.includes("*")) return undefined;
    const url = URL.parse(plain);
    if (
      url === null || !/^https?:$/.test(url.protocol) || url.origin !== plain
    ) return undefined;
    // A wildcard over a public suffix such as https://*.com would allow anybody.
    if (plain !== value && url.hostname.split(".").length < 2) return undefined;
    return value;
  },
};

/** The name of an environment variable that a child may be given. */
export const VARIABLE: ValueKind<string> = {
  wants:
    "a variable's name such as ANTHROPIC_API_KEY, none of CYBEROS_* or a loader's",
  placeholder: "NAME",
  parse: (value) =>
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(value) &&
      !/^(CYBEROS_|LD_|DYLD_|DENO_)/i.test(value)
      ? value
      : undefined,
};
