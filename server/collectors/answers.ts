/** What the answers of all sources have in common. */
import { Type } from "@sinclair/typebox";
import { parseWhole } from "../../core/parameters.ts";
import { formatInstant, parseInstant } from "../../core/time.ts";
import type { Judgement, RawAnswer, Source } from "./port.ts";

/** The sources as they are written. */
export const SOURCE_NAMES: Readonly<Record<Source, string>> = {
  youtube: "YouTube",
  x: "X",
  bluesky: "Bluesky",
};

/** What may be told or not; where it is told, the check of the observation says what it must be. */
export const Told = Type.Optional(Type.Unknown());

/**
 * What a status says where the answer itself says nothing more exact.
 *
 * @param told What the answer says of itself, if anything.
 */
export function judgeStatus(source: Source, { status }: RawAnswer, told?: string): Judgement {
  if (status >= 200 && status <= 299) return { kind: "answer" };
  const said = told === undefined ? "" : `: ${told}`;
  const reason = `${SOURCE_NAMES[source]} answered with status ${status}${said}`;
  if (status === 404 || status === 410) return { kind: "missing", reason };
  const canPass = status === 408 || status === 429 || status >= 500;
  return { kind: canPass ? "passing" : "refused", reason };
}

/** Where a source tells in its headers how much it lets itself be asked. */
export interface WindowHeaders {
  readonly remaining: string;
  /** Unix seconds. */
  readonly reset: string;
}

/**
 * When a window that is used up ends.
 *
 * @param windowMs How long it is; a window without an end that can be read ends after that.
 * @returns Milliseconds since 1970 UTC; `undefined` where there is something left of it.
 */
export function windowEnd(
  headers: Headers,
  { remaining, reset }: WindowHeaders,
  windowMs: number,
  now: number,
): number | undefined {
  if (headers.get(remaining) !== "0") return undefined;
  const seconds = parseWhole(headers.get(reset) ?? "");
  return seconds === undefined || seconds * 1000 <= now ? now + windowMs : seconds * 1000;
}

/** A pause of a bucket. @param why A sentence, without its full stop. */
export function waitUntil(why: string, until: number): Judgement {
  return { kind: "wait", until, reason: `${why} until ${formatInstant(until)}` };
}

/**
 * Reads a count that comes as text. What is no whole number is given as it came: the check of the
 * observation refuses it and says why.
 *
 * @returns `null` where none came.
 *
 * @example
 * countOf("338"); // 338
 * countOf("338K"); // "338K"
 */
export function countOf(value: unknown): unknown {
  return typeof value === "string" ? (parseWhole(value) ?? value) : (value ?? null);
}

/** Reads an instant; `undefined` where it is none. */
export function instantOf(value: unknown): number | undefined {
  return typeof value === "string" ? parseInstant(value) : undefined;
}
