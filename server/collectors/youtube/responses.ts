/** What the answers of YouTube have in common. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { parseItems, Unchecked, type ParsedItems } from "../client/responses.ts";
import { SourceError } from "../collector.ts";

/** A list of resources: those that are not there are missing, and where none is, `items` is. */
export const ListResponse = Type.Object({
  kind: Unchecked,
  pageInfo: Unchecked,
  nextPageToken: Type.Optional(Type.String()),
  items: Type.Optional(Type.Array(Type.Unknown())),
});

/**
 * The resources of a list.
 *
 * @throws {SourceError} `failed`: it has none, and is no list either; or none can be believed.
 */
export function parseListItems<Schema extends TSchema>(
  schema: Schema,
  { kind, pageInfo, items }: Static<typeof ListResponse>,
): ParsedItems<Static<Schema>> {
  if (items !== undefined) return parseItems("youtube", schema, items);
  // What is renamed or left out by mistake would make everybody be gone.
  if (kind !== undefined || pageInfo !== undefined) return { items: [], warning: undefined };
  throw new SourceError("failed", "YouTube answered with neither items nor pageInfo");
}

/** Pictures by the name of their size. */
export const Thumbnails = Type.Optional(
  Type.Record(Type.String(), Type.Object({ url: Unchecked, width: Unchecked })),
);

/** How wide pictures are whose width is not told. */
const THUMBNAIL_WIDTHS = new Map([
  ["default", 120],
  ["medium", 320],
  ["high", 480],
  ["standard", 640],
  ["maxres", 1280],
]);

/** The URL of the widest picture; `undefined` where there is none. */
export function findLargestThumbnail(thumbnails: Static<typeof Thumbnails> = {}): unknown {
  const widthOf = ([name, { width }]: [string, { readonly width?: unknown }]) =>
    typeof width === "number" ? width : (THUMBNAIL_WIDTHS.get(name) ?? 0);
  const [widest] = Object.entries(thumbnails)
    .filter(([, { url }]) => url !== undefined)
    .toSorted((a, b) => widthOf(b) - widthOf(a));
  return widest?.[1].url;
}

/**
 * Reads a duration.
 *
 * @returns Seconds; `undefined` where it is none.
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
