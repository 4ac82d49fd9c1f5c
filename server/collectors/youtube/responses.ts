/** Reads the parts that responses of YouTube share: lists and thumbnails. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { parseItems, Unchecked } from "../client/responses.ts";
import { SourceError, type CollectorContext, type SourceRequest } from "../collector.ts";
import { YOUTUBE } from "./source.ts";

/** YouTube leaves out missing resources, and `items` itself if there is none. */
const ListResponse = Type.Object({
  kind: Unchecked,
  pageInfo: Unchecked,
  nextPageToken: Type.Optional(Type.String()),
  items: Type.Optional(Type.Array(Type.Unknown())),
});

export async function fetchList<Schema extends TSchema>(
  { request }: CollectorContext,
  itemSchema: Schema,
  listRequest: Omit<SourceRequest<Schema>, "schema">,
) {
  const response = await request({ ...listRequest, schema: ListResponse });
  const { kind, pageInfo, nextPageToken, items } = response;
  // If `items` was renamed, an empty list would mean that everything is gone.
  if (items === undefined && kind === undefined && pageInfo === undefined) {
    throw new SourceError("failed", "YouTube answered with neither items nor pageInfo");
  }
  return { ...parseItems(YOUTUBE.title, itemSchema, items ?? []), nextPageToken };
}

/** Images by the name of a size. */
export const Thumbnails = Type.Optional(
  Type.Record(Type.String(), Type.Object({ url: Unchecked, width: Unchecked })),
);

/** The widths in pixels of images that come without a width. */
const THUMBNAIL_WIDTHS = new Map(
  Object.entries({ default: 120, medium: 320, high: 480, standard: 640, maxres: 1280 }),
);

export function findLargestThumbnail(thumbnails: Static<typeof Thumbnails> = {}): unknown {
  const widthOf = ([name, { width }]: [string, { readonly width?: unknown }]) =>
    typeof width === "number" ? width : (THUMBNAIL_WIDTHS.get(name) ?? 0);
  const [widest] = Object.entries(thumbnails)
    .filter(([, { url }]) => url !== undefined)
    .toSorted((a, b) => widthOf(b) - widthOf(a));
  return widest?.[1].url;
}
