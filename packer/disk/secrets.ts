/** Files that must never leave the author's machine, told by name and by content. */

/** Names of files that hold keys, tokens or passwords. */
const NAMES: readonly RegExp[] = [
  /^\.env(\..*)?$/i,
  /^\.?(netrc|npmrc|pypirc|pgpass|htpasswd|dockercfg)$/i,
  /^\.git-credentials$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)(\..*)?$/i,
  /\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)$/i,
  /^(credentials|secrets?|service[-_]account)(\.(json|ya?ml|txt|toml|ini))?$/i,
];

interface Rule {
  /** Text that is in every secret of the kind: looked for first, which is quick. */
  readonly mark: string;
  readonly pattern: RegExp;
  readonly what: string;
}

/**
 * What a secret looks like: long enough that no example in a text is one by chance.
 * No pattern starts anew within what it runs over: time stays linear.
 */
const RULES: readonly Rule[] = [
  rule(
    " PRIVATE KEY",
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,40}-----/,
    "a private key",
  ),
  rule("AKIA", /\bAKIA[0-9A-Z]{16}\b/, "an AWS access key"),
  rule("ASIA", /\bASIA[0-9A-Z]{16}\b/, "an AWS access key"),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((mark) =>
    rule(mark, /\bgh[pousr]_[A-Za-z0-9]{36,}\b/, "a GitHub token")
  ),
  rule("github_pat_", /\bgithub_pat_[A-Za-z0-9_]{60,}\b/, "a GitHub token"),
  rule("glpat-", /\bglpat-[A-Za-z0-9_-]{20,}/, "a GitLab token"),
  rule("npm_", /\bnpm_[A-Za-z0-9]{36}\b/, "an npm token"),
  rule("xox", /\bxox[abeoprs]-[A-Za-z0-9-]{20,}/, "a Slack token"),
  rule("sk-", /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}/, "an API key"),
  rule("AIza", /\bAIza[A-Za-z0-9_-]{35}\b/, "a Google API key"),
  rule("sk_live_", /\bsk_live_[A-Za-z0-9]{24,}/, "a Stripe key"),
  rule(
    ".eyJ",
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}/,
    "a signed token (JWT)",
  ),
  rule(
    "://",
    // The words that examples put in a password's place are none.
    /:\/\/[^\s/:@"'<>]+:(?!(?:password|passwd|passphrase|secret|changeme|example)@)[A-Za-z0-9_%.~+!$&*=-]{6,}@/i,
    "a URL with a password",
  ),
  rule(
    "://",
    /[?&](?:api[_-]?key|access[_-]?token|token|secret|password)=[A-Za-z0-9_%.~+-]{16,}/i,
    "a URL with a key",
  ),
];

function rule(mark: string, pattern: RegExp, what: string): Rule {
  return { mark, pattern, what };
}

/** Why a file of this name is not packed, or `undefined`. */
export function secretName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return NAMES.some((pattern) => pattern.test(name))
    ? "files of this name hold secrets"
    : undefined;
}

/** What secret the content holds, or `undefined`. */
export function secretContent(bytes: Uint8Array): string | undefined {
  // Latin 1 keeps every ASCII character in place, whatever else is in the file.
  const text = new TextDecoder("latin1").decode(bytes);
  return RULES.find(({ mark, pattern }) =>
    text.includes(mark) && pattern.test(text)
  )?.what;
}
