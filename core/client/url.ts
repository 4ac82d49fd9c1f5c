/** Writes the paths and queries of requests. */
import { assertAllowed, assertObject, createRangeError, isTextLike } from "./arguments.ts";

/** A part of a path: as it is, or an argument by its name: `{ channel: "nasa" }`. */
export type PathSegment = string | Readonly<Record<string, string>>;

/**
 * Writes a path.
 *
 * @throws {RangeError} For a name that would make it the path of something else.
 */
export function formatPath(segments: readonly PathSegment[]): string {
  return segments.map((segment) => `/${formatSegment(segment)}`).join("");
}

/** A URL has no empty name and none of dots: its parser takes them for steps in the path. */
function formatSegment(segment: PathSegment): string {
  if (typeof segment === "string") return segment;
  return Object.entries(segment)
    .map(([name, value]) => {
      const isName = isTextLike(value, /^(?!\.{0,2}$)/);
      assertAllowed(name, value, isName, "text of 1 or more characters, but not . or ..");
      return encode(name, value);
    })
    .join("/");
}

/**
 * Writes a query, with its question mark; names are joined by commas.
 *
 * @throws {RangeError} For a value that no query can have.
 */
export function formatQuery(query: object = {}): string {
  assertObject("query", query);
  const values = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = values.map(([name, value]) => `${name}=${encode(name, toText(name, value))}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function toText(name: string, value: unknown): string {
  if (Array.isArray(value)) return joinNames(name, value);
  const isText = typeof value === "string" || Number.isFinite(value);
  assertAllowed(name, value, isText, "text or a number");
  return String(value);
}

function joinNames(name: string, values: readonly unknown[]): string {
  for (const value of values) {
    const isName = isTextLike(value, /^[^,]+$/);
    assertAllowed(
      `A name in ${name}`,
      value,
      isName,
      "text of 1 or more characters without commas",
    );
  }
  return values.join(",");
}

function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw createRangeError(name, text, "text without lone surrogates");
  }
}
