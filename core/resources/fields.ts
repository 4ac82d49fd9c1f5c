/**
 * Schemas that resources share, also of pagination and errors, and functions that create schemas.
 * No schema has a `format`: TypeBox rejects a format that is not registered, and a registration
 * reaches only one of several loaded copies of TypeBox.
 */
import * as Type from "@sinclair/typebox";
import { ERROR_STATUSES, isErrorCode } from "../errors.ts";
import {
  IDENTIFIER_MAX_CHARACTERS,
  INTEGER_MAX,
  LIST_NAME_MAX_CHARACTERS,
  PAGE_LIMIT_RANGE,
} from "../limits.ts";
import type { Nullable, ResourceSchemas } from "./generated/schemas.ts";

/** A value, or `null` if no source reported it. */
export const nullable = <Schema extends Type.TSchema>(
  schema: Schema,
  options?: Type.SchemaOptions,
): Nullable<Schema> => Type.Union([schema, Type.Null()], options);

/** Creates a copy of a schema with another description. */
export const describe = <Schema extends Type.TSchema>(
  schema: Schema,
  description: string,
): Schema => ({ ...schema, description });

/** An object with exactly these fields. */
export const strictObject = <Properties extends Type.TProperties>(
  properties: Properties,
  options?: Type.SchemaOptions,
): Type.TObject<Properties> => Type.Object(properties, { additionalProperties: false, ...options });

/** A count: a whole number from 0 to 2^53 - 1. */
export const Count: Type.TInteger = Type.Integer({ minimum: 0, maximum: INTEGER_MAX });

/** A count, or `null` if no source reported it. */
export const CountOrNull: Nullable<Type.TInteger> = nullable(Count);

/** The difference of two counts; a loss is negative. */
export const CountChange: Type.TInteger = Type.Integer({
  minimum: -INTEGER_MAX,
  maximum: INTEGER_MAX,
});

/** A text, or `null`. */
export const TextOrNull: Nullable<Type.TString> = nullable(Type.String());

/** TypeBox checks `pattern`, client generators read `enum`. A union of literals would be larger. */
export const createChoice = <Name extends string>(
  names: readonly Name[],
  description: string,
): Type.TUnsafe<Name> =>
  Type.Unsafe<Name>(
    Type.String({ enum: [...names], pattern: `^(?:${names.join("|")})$`, description }),
  );

/** The pattern limits the length: TypeBox counts UTF-16 units, but JSON Schema characters. */
export const createTextSchema = (
  min: number,
  max: number,
  { excluded = "\\u0000" }: { readonly excluded?: string } = {},
): Type.TString => {
  // A surrogate pair is one character with the flag u, which Ajv sets, and two without it.
  const character = `[^${excluded}\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff]`;
  return Type.String({ pattern: `^(?:${character}){${min},${max}}$` });
};

/** An identifier of up to `max` characters, as `isIdentifier()` of core checks it. */
export const createIdentifierSchema = (max: number): Type.TString =>
  createTextSchema(1, max, { excluded: "\\u0000-\\u001f\\u007f-\\u009f" });

/** An identifier of an entity. */
export const Identifier: Type.TString = createIdentifierSchema(IDENTIFIER_MAX_CHARACTERS);

/** The name of a saved list, as `parseListName()` of core checks it, but for spaces and dots. */
export const ListName: Type.TString = describe(
  createIdentifierSchema(LIST_NAME_MAX_CHARACTERS),
  "The name of a saved list, unique in its account regardless of case",
);

/** The days that exist, from the year 0 to 9999. */
export const DATE_PATTERN: string =
  "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|" +
  "02-(?:0[1-9]|1\\d|2[0-8]))|" +
  "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";

/** A day that exists: `2026-11-20`. */
export const Day: Type.TString = Type.String({ pattern: `^${DATE_PATTERN}$` });

/** An instant in UTC with milliseconds: `2026-11-20T08:15:30.123Z`. */
export const Instant: Type.TString = Type.String({
  pattern: `^${DATE_PATTERN}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$`,
});

/** An instant, or `null`. */
export const InstantOrNull: Nullable<Type.TString> = nullable(Instant);

/** The name of a channel, in the resources of its shorts, histories and comparisons. */
export const ChannelName: Type.TString = Type.String({
  description: "The channel's username, or its identifier if no source reported a username",
});

/** The name of a user. */
export const Username: Type.TString = Type.String({ description: "Username without the @ symbol" });

/** Creates the schema of a history of counts. */
export const createHistorySchema = <Counts extends Type.TProperties>(
  counts: Counts,
): Type.TArray<Type.TObject<{ timestamp: Type.TString } & Counts>> =>
  Type.Array(strictObject({ timestamp: Instant, ...counts }), { description: "Oldest first" });

/** The place of a page in a listing that continues at a cursor. */
export const CursorPagination: ResourceSchemas["CursorPagination"] = strictObject(
  {
    hasMore: Type.Boolean({ description: "Whether a page follows" }),
    nextCursor: nullable(Type.String(), {
      description: "The `cursor` of the next page; null if hasMore is false",
    }),
  },
  { description: "How far the listing goes" },
);

/** The place of a numbered page in its listing. */
export const Pagination: ResourceSchemas["Pagination"] = strictObject(
  {
    page: Type.Integer({ minimum: 0, description: "0-based" }),
    limit: Type.Integer({
      minimum: PAGE_LIMIT_RANGE.min,
      maximum: PAGE_LIMIT_RANGE.max,
      description: "The most items of a page",
    }),
    total: Type.Integer({ minimum: 0, description: "Items that the days filter selects" }),
    page_count: Type.Integer({ minimum: 0, description: "Pages of the listing" }),
    has_more: Type.Boolean({ description: "Whether a page follows" }),
  },
  { description: "How far the listing goes" },
);

/** An error of `/api/video`. */
export const VideoError: ResourceSchemas["VideoError"] = strictObject({
  error: Type.String({ description: "A sentence, or the name of the error" }),
});

/** An error of every path outside `/api/video`. */
export const ServiceError: ResourceSchemas["ServiceError"] = strictObject({
  error: createChoice(Object.keys(ERROR_STATUSES).filter(isErrorCode), "The name of the error"),
  message: Type.String({ description: "What was sent and what is allowed" }),
});
