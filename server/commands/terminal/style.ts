/** Formats text for a terminal: colours, visible controls, shell quotes, sizes, counts, plurals. */
import { styleText } from "node:util";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";

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

/**
 * Formats a difference with its sign.
 *
 * @example
 * formatChange(1234); // "+1,234"
 */
export const formatChange = (change: number): string =>
  change > 0 ? `+${formatCount(change)}` : formatCount(change);

/**
 * Formats a change in percent: one that is rounded to less than 10 with two decimals, others with
 * one.
 *
 * @example
 * formatPercent(-0.126); // "-0.13%"
 * formatPercent(9.999); // "+10.0%"
 */
export function formatPercent(percent: number): string {
  const twoDecimals = Number(percent.toFixed(2));
  const digits = Math.abs(twoDecimals) < 10 ? 2 : 1;
  // The addition turns -0 into 0.
  const rounded = Number(percent.toFixed(digits)) + 0;
  const text = rounded.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${rounded > 0 ? "+" : ""}${text}%`;
}

/**
 * Formats a duration in the largest unit that it has two of: minutes, hours, days or years.
 *
 * @example
 * formatAge(3 * 3_600_000); // "3 h"
 */
export function formatAge(ms: number): string {
  if (ms < 2 * HOUR_MS) return `${Math.max(0, Math.floor(ms / MINUTE_MS))} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  const days = Math.floor(ms / DAY_MS);
  return days < 2 * 365.25 ? `${days} d` : `${Math.floor(days / 365.25)} y`;
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Makes the controls of a text visible, and cuts it to a width, with `…` for the rest.
 *
 * @example
 * cutText("Seven Minute Soup", 6); // "Seven…"
 */
export function cutText(text: string, width: number): string {
  const shown = showControls(text);
  if (Bun.stringWidth(shown) <= width) return shown;
  let cut = "";
  for (const { segment } of segmenter.segment(shown)) {
    if (Bun.stringWidth(cut + segment) > width - 1) break;
    cut += segment;
  }
  return `${cut.trimEnd()}…`;
}
