/** The columns of lists: what a row can have beside its identifier, and how a query names them. */
import { createInvalidRequestError, quoteValue } from "./errors.ts";
import { ENTITY_FIELDS, mapKinds, type EntityFields, type EntityKind } from "./kinds.ts";
import { METRICS } from "./metrics/catalog.ts";
import { readSingleValue, type QueryParameters } from "./parameters.ts";

/** The column with the newest instant at which a source saw the entity. */
export const OBSERVED_AT = "observedAt";

/** The column with the daily values of the main count. */
export const TREND = "trend";

/** The column of an item with the display name of its owner. */
export const OWNER_DISPLAY_NAME = "displayName";

/** The columns of each kind, by the names that `fields` has. Every row has its identifier, too. */
export const COLUMNS: Readonly<Record<EntityKind, readonly string[]>> = mapKinds((kind) => {
  const { idField, attributes, counts, owner }: EntityFields = ENTITY_FIELDS[kind];
  const owned = owner === undefined ? [] : [owner.field, OWNER_DISPLAY_NAME];
  const names = [
    ...owned,
    ...Object.keys(attributes),
    ...counts,
    ...Object.keys(METRICS[kind]),
    OBSERVED_AT,
    TREND,
  ];
  return [...new Set(names)].filter((name) => name !== idField);
});

/** The columns of a row of items without `fields`; the figure of the sort is added. */
export const ITEM_DEFAULT_COLUMNS = {
  short: ["channel", "title", "thumbnail", "publishedAt", "views", "likes", "comments", "shares"],
  tweet: [
    "username",
    "text",
    "url",
    "created_at",
    "likes",
    "retweets",
    "replies",
    "quotes",
    "impressions",
  ],
} as const;

/**
 * Parses `fields`: names of columns, separated by commas, in the order of the row.
 *
 * @returns `undefined` if it is not given.
 * @throws {DomainError} `Invalid Request`, with the name and those that are allowed.
 *
 * @example
 * parseFields("user", new URLSearchParams("fields=followers_count,trend"));
 * // ["followers_count", "trend"]
 */
export function parseFields(
  kind: EntityKind,
  query: QueryParameters,
): readonly string[] | undefined {
  const text = readSingleValue("fields", query);
  if (text === undefined) return undefined;
  const fields = text.split(",");
  const columns = COLUMNS[kind];
  const unknown = fields.find((name) => !columns.includes(name));
  if (unknown !== undefined) {
    const allowed = `fields must be some of ${columns.join(", ")}, separated by commas`;
    throw createInvalidRequestError(`${allowed}, got ${quoteValue(unknown)}`);
  }
  const repeated = fields.find((name, index) => fields.indexOf(name) !== index);
  if (repeated === undefined) return fields;
  throw createInvalidRequestError(`fields must have each name once, got ${quoteValue(text)}`);
}
