/** Encodes and decodes UTF-8. */

// Every runtime has these, but no type of the language declares them.
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  encoding: "utf-8",
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Encodes a text. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes bytes; a `TypeError` if they are no UTF-8. A byte order mark is a character like others. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
