/** Reads what the responses of YouTube have in common. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { parseItems, Unchecked, type ParsedItems } from "../client/responses.ts";
import { SourceError } from "../collector.ts";

/** A list of resources. Resources that do not exist are left out; `items` is absent without any. */
export const ListResponse = Type.Object({
  kind: Unchecked,
  pageInfo: Unchecked,
  nextPageToken: Type.Optional(Type.String()),
  items: Type.Optional(Type.Array(Type.Unknown())),
});

/**
 * Returns the valid resources of a list.
 *
 * @throws {SourceError} `failed`: the response is no list, or all of several resources are invalid.
 */
export function parseListItems<Schema extends TSchema>(
  schema: Schema,
  { kind, pageInfo, items }: Static<typeof ListResponse>,
): ParsedItems<Static<Schema>> {
  if (items !== undefined) return parseItems("youtube", schema, items);
  // If `items` was renamed, an empty list would mean that everything is gone.
  if (kind !== undefined || pageInfo !== undefined) return { items: [], warning: undefined };
  throw new SourceError("failed", "YouTube answered with neither items nor pageInfo");
}

/** Images by the name of their size. */
export const Thumbnails = Type.Optional(
  Type.Record(Type.String(), Type.Object({ url: Unchecked, width: Unchecked })),
);

/** The widths of images that come without one, in pixels. */
const THUMBNAIL_WIDTHS = new Map([
  ["default", 120],
  ["medium", 320],
  ["high", 480],
  ["standard", 640],
  ["maxres", 1280],
]);

/** Returns the URL of the widest image; `undefined` without one. */
export function findLargestThumbnail(thumbnails: Static<typeof Thumbnails> = {}): unknown {
  const widthOf = ([name, { width }]: [string, { readonly width?: unknown }]) =>
    typeof width === "number" ? width : (THUMBNAIL_WIDTHS.get(name) ?? 0);
  const [widest] = Object.entries(thumbnails)
    .filter(([, { url }]) => url !== undefined)
    .toSorted((a, b) => widthOf(b) - widthOf(a));
  return widest?.[1].url;
}

/**
 * Parses a duration, in ISO 8601 or in seconds.
 *
 * @returns Seconds; `undefined` for anything else.
 *
 * @example
 * parseDuration("PT2M5S"); // 125
 * parseDuration("37s"); // 37
 */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(value) ?? [];
  if (seconds !== undefined) return Number(seconds);
  const match = ISO_DURATION.exec(value);
  if (match === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, isoSeconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + isoSeconds;
}

const ISO_DURATION =
  /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,9})S)?)?$/;
