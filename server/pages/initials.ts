/** Creates what stands for a picture that does not exist: initials and a hue, both from the name. */

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Letters, their marks and digits. An apostrophe continues a word. */
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*/gu;

/** Scripts in which two capitals are a usual abbreviation of a name. Others join or are wide. */
const HAS_INITIALS = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u;

const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/u;

/** Of a long text, only the beginning is looked at. */
const NAME_MAX_LENGTH = 200;

/** The longest emoji that are joined from several have 11 UTF-16 units. */
const EMOJI_MAX_LENGTH = 16;

/** One or two letters of a name, or its first emoji; a dash for a name without either. */
export function createInitials(name: string): string {
  const start = name.slice(0, NAME_MAX_LENGTH).normalize("NFC");
  const words = (start.match(WORD) ?? []).map(takeFirstLetter);
  const [first] = words;
  if (first === undefined) return findEmoji(start) ?? "–";
  if (!HAS_INITIALS.test(first)) return first;
  const last = words.slice(1).findLast((letter) => HAS_INITIALS.test(letter)) ?? "";
  return toCapital(first) + toCapital(last);
}

/** A letter with at most two marks: texts can pile up any number of them. */
function takeFirstLetter(word: string): string {
  const [{ segment = "" } = {}] = segmenter.segment(word);
  return segment.replace(/(?<=\p{M}{2})\p{M}+/u, "");
}

/** Keeps a letter whose capital is several letters, as that of ß is. */
function toCapital(letter: string): string {
  const capital = letter.toUpperCase();
  return capital.length === letter.length ? capital : letter;
}

function findEmoji(text: string): string | undefined {
  for (const { segment } of segmenter.segment(text)) {
    if (EMOJI.test(segment) && segment.length <= EMOJI_MAX_LENGTH) return segment;
  }
  return undefined;
}

/** A hue in degrees. Names that differ a little have different hues. */
export function computeHue(name: string): number {
  let hash = 0;
  for (const character of name.slice(0, NAME_MAX_LENGTH)) {
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) % 1_000_003;
  }
  return Math.abs(hash * 137) % 360;
}
