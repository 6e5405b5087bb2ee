/** Connection URLs of PostgreSQL. Nothing is loaded for it, so that the configuration can judge with it. */

/** A URL's parts, as postgres.js wants them. */
export interface PostgresAddress {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: false | "prefer" | "require" | "verify-full";
  /** Off behind a pooler that does not know prepared statements. */
  readonly prepare: boolean;
}

const SHAPE =
  /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;
const PLACE = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i;

/**
 * Parses `postgres://user:password@host:port/database`. Several hosts are
 * separated by commas. `sslmode` is libpq's; `prepare=false` or
 * `pgbouncer=true` gives up prepared statements.
 *
 * @throws {TypeError} without the URL in it, which holds a password.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const match = SHAPE.exec(text);
  const user = decode(match?.[1]);
  const places = (match?.[3] ?? "").split(",").map((one) => PLACE.exec(one));
  const ports = places.map((place) => Number(place?.[2] ?? 5432));
  if (match === null || user === "" || ports.some((port) => port > 65535)) {
    throw unreadable();
  }
  const query = new URLSearchParams(match[5] ?? "");
  return {
    hosts: places.map((place) => {
      if (place === null) throw unreadable();
      return (place[1] as string).replace(/^\[(.*)\]$/, "$1");
    }),
    ports,
    user,
    password: decode(match[2]),
    database: decode(match[4]) || user,
    ssl: sslOf(query.get("sslmode") ?? query.get("ssl") ?? "disable"),
    prepare: query.get("prepare") !== "false" &&
      query.get("pgbouncer") !== "true",
  };
}

function decode(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? "");
  } catch {
    throw unreadable();
  }
}

function unreadable(): TypeError {
  return new TypeError(
    "Cannot read the database URL: write postgres://user:password@host:port/database",
  );
}

function sslOf(mode: string): PostgresAddress["ssl"] {
  switch (mode) {
    case "disable":
    case "false":
      return false;
    case "allow":
    case "prefer":
      return "prefer";
    case "require":
    case "true":
      return "require";
    case "verify-ca":
    case "verify-full":
      return "verify-full";
  }
  throw new TypeError(
    "Cannot read the database URL: sslmode is one of disable, prefer, require, verify-full",
  );
}
