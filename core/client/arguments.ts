/** Checks the arguments of the client, and writes those of its methods into paths and queries. */

/** @throws {RangeError} For a value that no request can be sent with. It names the argument. */
export function assertAllowed(
  name: string,
  value: unknown,
  isAllowed: boolean,
  allowed: string,
): void {
  if (isAllowed) return;
  // An object may have no text, so its type is shown.
  const isObject = Object(value) === value;
  const shown = isObject ? `a value of type ${typeof value}` : String(value);
  const got = typeof value === "string" ? JSON.stringify(value) : shown;
  throw new RangeError(`${name} must be ${allowed}, got ${got}`);
}

/** @throws {RangeError} For a value that is no object. */
export function assertObject(name: string, value: unknown): void {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  assertAllowed(name, value, isObject, "an object");
}

/** Whether a value is text that matches a pattern. */
export const isTextLike = (value: unknown, pattern: RegExp): boolean =>
  typeof value === "string" && pattern.test(value);

/** A part of a path: as it is, or an argument by its name: `{ channel: "nasa" }`. */
export type PathSegment = string | Readonly<Record<string, string>>;

/** @throws {RangeError} For a name that would make it the path of something else. */
export const formatPath = (segments: readonly PathSegment[]): string =>
  segments.map((segment) => `/${formatSegment(segment)}`).join("");

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
  if (!Array.isArray(value)) {
    const isText = typeof value === "string" || Number.isFinite(value);
    assertAllowed(name, value, isText, "text or a number");
    return String(value);
  }
  for (const item of value) {
    const allowed = "text of 1 or more characters without commas";
    assertAllowed(`A name in ${name}`, item, isTextLike(item, /^[^,]+$/), allowed);
  }
  return value.join(",");
}

function encode(name: string, text: string): string {
  assertAllowed(name, text, text.isWellFormed(), "text without lone surrogates");
  return encodeURIComponent(text);
}
