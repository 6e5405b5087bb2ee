/** The version of this release, equal to `deno.json`'s (a test holds it). */
export const VERSION: string = "1.0.0";
