/** The type of a setting, and parsers that several settings share; config.ts has the settings. */

export interface Setting {
  readonly name: string;
  readonly default?: string;
  readonly description: string;
  readonly allowed: string;
  /** Returns the value of a text; `undefined` if the text is not allowed. */
  parse(text: string): unknown;
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]) {
  return {
    allowed: listChoices(choices),
    parse: (text: string) => choices.find((choice) => choice === text),
  };
}

/** Lists texts as in `x, y or z`. */
export const listChoices = (texts: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(texts);

export function checkedText(allowed: string, isAllowed: (text: string) => boolean) {
  return { allowed, parse: (text: string) => (isAllowed(text) ? text : undefined) };
}

export const WEB_URL = checkedText(
  "an http or https URL",
  (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
);
