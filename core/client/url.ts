/** Writes the paths and queries of requests. */

import { assertAllowed, createRangeError } from "./errors.ts";

/** The query of a request; names are joined by commas. */
export type UrlQuery = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/**
 * Writes a path.
 *
 * @throws {RangeError} For a name that would make it the path of something else.
 */
export function formatPath(segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeSegment(segment)}`).join("");
}

/** A URL has no empty name and none of dots: its parser takes them for steps in the path. */
function encodeSegment(name: string): string {
  assertAllowed("A name", name, !/^\.{0,2}$/.test(name), "1 or more characters, but not . or ..");
  return encode(name);
}

/**
 * Writes a query, with its question mark.
 *
 * @throws {RangeError} For names that cannot be joined by commas.
 */
export function formatQuery(query: UrlQuery = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encode(isText(value) ? value : joinNames(value))}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

const isText = (value: string | number | readonly string[]): value is string | number =>
  typeof value !== "object";

function joinNames(names: readonly string[]): string {
  for (const name of names) {
    assertAllowed(
      "A compared name",
      name,
      /^[^,]+$/.test(name),
      "1 or more characters without commas",
    );
  }
  return names.join(",");
}

function encode(text: string | number): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw createRangeError("Text", text, "without lone surrogates");
  }
}
