/** How text looks on a terminal: colours, visible controls, sizes. */
import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

/** Colours text, whether or not it is written to a terminal. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { validateStream: false });
}

/** Characters that change how the text around them is shown, such as the direction of writing. */
const DIRECTION_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Makes controls of the direction of text visible: they can make a line look like another one.
 *
 * @example
 * showDirectionControls("a\u202Eb"); // "a\\u202eb"
 */
export function showDirectionControls(text: string): string {
  return text.replace(DIRECTION_CONTROLS, escapeCharacter);
}

/**
 * Makes all controls of a text visible, so that it stays in its line and changes no colour.
 *
 * @example
 * showControls("a\nb\u001B[31m"); // "a\\u000ab\\u001b[31m"
 */
export function showControls(text: string): string {
  return showDirectionControls(text.replace(/\p{Cc}/gu, escapeCharacter));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/**
 * Formats a size as people read it, in decimal units.
 *
 * @example
 * formatBytes(999); // "999 bytes"
 * formatBytes(12_345_678); // "12.3 MB"
 */
export function formatBytes(bytes: number): string {
  const exponent = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** exponent;
  return `${exponent === 0 ? value : value.toFixed(1)} ${BYTE_UNITS[exponent] ?? ""}`;
}

/** Formats a number with commas. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}
