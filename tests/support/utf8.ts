/** The UTF-8 bytes of texts, in any runtime. */

/** One character for each UTF-8 byte, so that `<` compares the bytes of two texts. */
export function toByteText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCodePoint(byte)).join("");
}

/** The text as it comes back from UTF-8: lone surrogates become U+FFFD. */
export function toWellFormedText(text: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}
