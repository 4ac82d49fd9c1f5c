/** Formats text for a terminal: colours, visible controls, shell quotes, sizes, counts, plurals. */
import { styleText } from "node:util";

/** Colours text, whether or not it is written to a terminal. */
export const paint = (format: Parameters<typeof styleText>[0], text: string): string =>
  styleText(format, text, { validateStream: false });

/** Invisible characters and characters that turn text around, except characters that emoji need. */
const FORMAT_CONTROLS = /(?!\u200C|\u200D|[\u{E0020}-\u{E007F}])[\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Makes all controls of a text visible, so that it stays in its line and changes no colour.
 *
 * @example
 * showControls("a\nb\u001B[31m"); // "a\\u000ab\\u001b[31m"
 */
export const showControls = (text: string): string =>
  text.replace(/\p{Cc}/gu, escapeCharacter).replace(FORMAT_CONTROLS, escapeCharacter);

function escapeCharacter(character: string): string {
  const units = character.split("");
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

/**
 * Quotes an argument for a shell, if it needs that.
 *
 * @example
 * quote("acme"); // "acme"
 * quote("Bob's"); // "'Bob'\\''s'"
 */
export const quote = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

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

export const formatCount = (count: number): string => count.toLocaleString("en-US");

export const formatPlural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
