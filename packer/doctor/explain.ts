/** Each verdict in plain words: what it means for the person who holds the bundle. */
import type { Verdict } from "./verdicts.ts";

/** One sentence without a full stop per verdict; docs/doctor.md shows the same. */
export const EXPLANATIONS: Readonly<Record<Verdict, string>> = {
  UNSIGNED: "Nobody has signed it: the signature is absent, empty or half",
  SIG_BUNDLE_MALFORMED:
    "What stands for a signature is none: a placeholder, damaged, or not in its one form",
  SIG_BUNDLE_KIND:
    "It is a signature of a kind that proves less: an old format, a bare key, another log",
  SIG_TLOG_COUNT: "The signature needs exactly one entry of a public log",
  SIG_PAYLOAD_TYPE: "What is signed is no statement about a plugin",
  SIG_INVALID:
    "The signature is false, damaged, or by an authority that is not trusted here",
  SIG_FROM_FUTURE: "It claims to be signed at a time still to come",
  CONTENT_MISMATCH:
    "The signature is genuine and about other content: something was changed, or it was taken from another bundle",
  IDENTITY_SAN: "Somebody signed it who is not in your policy",
  IDENTITY_ISSUER:
    "The signer's name is the right one, vouched for by somebody else",
  IDENTITY_UNCHECKED: "You did not say who must have signed it",
  REKOR_UUID_MISMATCH: "It points to another log entry than the signed one",
  REKOR_ENTRY_MISSING: "The log has no such entry, or another one",
  REKOR_UNREACHABLE: "The log gave no answer, so it could not be asked",
  MANIFEST_MISSING: "There is no plugin.json in its place",
  MANIFEST_JSON: "The manifest is not plain JSON",
  MANIFEST_NOT_CANONICAL:
    "The manifest's text can be read in two ways, or was changed after packing",
  MANIFEST_SCHEMA: "The manifest breaks its contract",
  ZIP_UNREADABLE: "It is no zip archive, or cut off",
  ZIP_DUPLICATE:
    "Two files have one name: which one counts depends on the reader",
  ZIP_LOCAL_MISMATCH:
    "The archive says two things about one file: which one counts depends on the reader",
  ZIP_GAP: "Bytes are hidden between, before or under the files",
  ZIP_TRAILING_DATA: "Bytes follow the archive's end",
  ZIP_MODE: "A file is a link, a special file or has unusual rights",
  ZIP_EXTRA_FIELD: "A file carries data that no reader shows",
  ZIP_ENCRYPTED: "A file is encrypted",
  ZIP_DATA: "A file's data is damaged, or lies about its size",
  ZIP_NOT_CANONICAL: "The archive was not written by the packer",
  ZIP_NOT_REPRODUCIBLE: "Packing the content again gives other bytes",
  LIMIT_ARCHIVE: "The archive is larger, or has more files, than any bundle",
  LIMIT_UNPACKED: "It would unpack to more than any bundle: a bomb",
  PATH_ILLEGAL:
    "A path leaves the folder, or means another file on some system",
  PATH_CASE_COLLISION: "Two files are one on some systems",
  PATH_UNEXPECTED: "A file lies where a bundle has none",
  HOST_CONFIG_FOREIGN:
    "What the host reads to start programs is not what the packer makes",
  PROGRAM_SMUGGLED: "A program lies among texts and pictures",
  SHELL_COMMAND: "A text makes the host run a command before anybody reads it",
  FRONTMATTER_FOREIGN:
    "A text asks the host for more than being read: tools, hooks, a shell",
  FILE_REFERENCE: "A text pulls in files of your computer",
  TEXT_HIDDEN: "A text has parts that you cannot see and a model reads",
};
