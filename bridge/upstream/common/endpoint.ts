/** Where an upstream is, and what is wrong with where the operator says it is. */

/** An upstream's address as configured: a base URL, or why there is none. */
export type Endpoint =
  | { readonly ok: true; readonly base: URL }
  | { readonly ok: false; readonly problem: string };

/** Reads a configured base URL; never throws. */
export function parseEndpoint(text: string | undefined): Endpoint {
  if (text === undefined || text.trim() === "") {
    return { ok: false, problem: "is not set" };
  }
  if (!URL.canParse(text)) return { ok: false, problem: "is not a URL" };
  const base = new URL(text);
  if (base.protocol !== "https:" && base.protocol !== "http:") {
    return { ok: false, problem: "is not an http or https URL" };
  }
  if (base.username !== "" || base.password !== "") {
    return {
      ok: false,
      problem: "holds a user name or password; set the token variable instead",
    };
  }
  base.hash = "";
  base.search = "";
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return { ok: true, base };
}

/** Parameters of a query by name; `undefined` ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** The URL of a path under the base. Segments must be encoded already. */
export function urlUnder(base: URL, path: string, query: Query = {}): URL {
  const url = new URL(path.replace(/^\/+/, ""), base);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}
