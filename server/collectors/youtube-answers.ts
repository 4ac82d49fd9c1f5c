/** What the answers of YouTube have in common. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { believe, Told, type Believed } from "./answers.ts";
import { SourceFailure } from "./port.ts";

/** A list of resources: those that are not there are missing, and where none is, `items` is. */
export const List = Type.Object({
  kind: Told,
  pageInfo: Told,
  nextPageToken: Type.Optional(Type.String()),
  items: Type.Optional(Type.Array(Type.Unknown())),
});

/**
 * The resources of a list.
 *
 * @throws {SourceFailure} `failed`: it has none, and is no list either; or none can be believed.
 */
export function itemsOf<Schema extends TSchema>(
  schema: Schema,
  { kind, pageInfo, items }: Static<typeof List>,
): Believed<Static<Schema>> {
  if (items !== undefined) return believe("youtube", schema, items);
  // What is renamed or left out by mistake would make everybody be gone.
  if (kind !== undefined || pageInfo !== undefined) return { items: [], doubt: undefined };
  throw new SourceFailure("failed", "YouTube answered with neither items nor pageInfo");
}

/** Pictures by the name of their size. */
export const Thumbnails = Type.Optional(
  Type.Record(Type.String(), Type.Object({ url: Told, width: Told })),
);

/** How wide pictures are whose width is not told. */
const WIDTHS = new Map([
  ["default", 120],
  ["medium", 320],
  ["high", 480],
  ["standard", 640],
  ["maxres", 1280],
]);

/** The URL of the widest picture; `undefined` where there is none. */
export function largestThumbnail(thumbnails: Static<typeof Thumbnails> = {}): unknown {
  const widthOf = ([name, { width }]: [string, { readonly width?: unknown }]) =>
    typeof width === "number" ? width : (WIDTHS.get(name) ?? 0);
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
 * durationOf("PT2M5S"); // 125
 * durationOf("37s"); // 37
 */
export function durationOf(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(value) ?? [];
  if (seconds !== undefined) return Number(seconds);
  const match = ISO_DURATION.exec(value);
  if (match === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, rest = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + rest;
}

const ISO_DURATION =
  /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,9})S)?)?$/;
