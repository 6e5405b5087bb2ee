/** Texts that hosts show hold what they show. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import { hiddenText } from "../hidden_text.ts";
import type { JsonObject } from "../json.ts";
import { objectsIn, type Part, textOf } from "./parts.ts";

/** What a person agrees to by reading must not say more to a terminal or a model. */
export function checkHidden(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  for (const { value, json_pointer } of shownTexts(manifest)) {
    if (!hiddenText(value)) continue;
    faults.add({
      json_pointer,
      constraint: "hidden_text",
      message: "The text has characters that nobody sees",
      hint: per(
        1,
        "Remove control characters, bidirectional overrides and zero-width signs",
      ),
    });
  }
}

function* shownTexts(manifest: JsonObject): Generator<Part<string>> {
  yield* textIn({ value: manifest, json_pointer: "" }, "name");
  yield* textIn({ value: manifest, json_pointer: "" }, "description");
  for (const author of objectsIn(manifest.authors, "/authors")) {
    yield* textIn(author, "name");
  }
  for (const tool of objectsIn(manifest.tools, "/tools")) {
    yield* textIn(tool, "description");
  }
}

function* textIn(
  { value, json_pointer }: Part<JsonObject>,
  member: string,
): Generator<Part<string>> {
  const text = textOf(value, member);
  if (text !== undefined) {
    yield { value: text, json_pointer: `${json_pointer}/${member}` };
  }
}
