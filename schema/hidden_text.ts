/** What is in a text and on no screen. */

// Controls, tags, bidirectional overrides, zero-width signs, private use: what a
// reviewer does not see and a model reads.
const HIDDEN =
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Co}]/u;

// Joiners and variation selectors belong into words and emoji, two together at
// most; in a row they spell what nobody sees.
const HIDDEN_ROW = /[\u200c\u200d\ufe00-\ufe0f]{3}/;

/** Whether a text has characters that a reader cannot see. */
export function hiddenText(text: string): boolean {
  return HIDDEN.test(text) || HIDDEN_ROW.test(text);
}
