/**
 * Schemas that several resources share. None has a `format`: TypeBox rejects every value of a format
 * that is not registered, and a registration only reaches one of the copies that a program may load.
 */
import * as Type from "@sinclair/typebox";
import type { SchemaOptions, TSchema } from "@sinclair/typebox";
import type * as resources from "../resources/video.ts";
import { INTEGER_MAX } from "../limits.ts";
import { DATE_PATTERN } from "./texts.ts";
import type { ExactObject, ObjectSchema } from "./object-schema.ts";

/** A value, or `null` if no source reported it. */
export const nullable = <Schema extends TSchema>(
  schema: Schema,
  options?: SchemaOptions,
): Type.TUnion<[Schema, Type.TNull]> => Type.Union([schema, Type.Null()], options);

/** An object with these fields, and any others. */
export const openObject = <Properties extends Type.TProperties>(
  properties: Properties,
  options?: Type.ObjectOptions,
): ExactObject<Properties> => Type.Object(properties, options) as ExactObject<Properties>;

/** An object with exactly these fields. */
export const strictObject = <Properties extends Type.TProperties>(
  properties: Properties,
  options?: SchemaOptions,
): ExactObject<Properties> => openObject(properties, { additionalProperties: false, ...options });

/** A count: a whole number from 0 to 2^53 - 1. */
export const Count: Type.TInteger = Type.Integer({ minimum: 0, maximum: INTEGER_MAX });

/** A count, or `null` if no source reported it. */
export const CountOrNull: Type.TUnion<[Type.TInteger, Type.TNull]> = nullable(Count);

/** The difference of two counts; a loss is negative. */
export const CountChange: Type.TInteger = Type.Integer({
  minimum: -INTEGER_MAX,
  maximum: INTEGER_MAX,
});

/** A text, or `null`. */
export const TextOrNull: Type.TUnion<[Type.TString, Type.TNull]> = nullable(Type.String());

/** A link as the source reported it, not validated. */
export const LinkOrNull: Type.TUnion<[Type.TString, Type.TNull]> = nullable(
  Type.String({ description: "URL" }),
);

/**
 * One of these names, of letters and spaces. TypeBox checks the pattern, generators of clients read
 * `enum`, and it is smaller than a union of literals.
 */
export const createChoice = <Name extends string>(
  names: readonly Name[],
  options?: SchemaOptions,
): Type.TUnsafe<Name> =>
  Type.Unsafe<Name>(
    Type.String({ enum: [...names], pattern: `^(?:${names.join("|")})$`, ...options }),
  );

/** A day that exists: `2026-11-20`. */
export const Day: Type.TString = Type.String({ pattern: `^${DATE_PATTERN}$` });

/** An instant in UTC with milliseconds: `2026-11-20T08:15:30.123Z`. */
export const Instant: Type.TString = Type.String({
  pattern: `^${DATE_PATTERN}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$`,
});

/** An instant, or `null`. */
export const InstantOrNull: Type.TUnion<[Type.TString, Type.TNull]> = nullable(Instant);

/** A history of these counts. */
export const createHistorySchema = <Counts extends Record<string, TSchema>>(
  counts: Counts,
): Type.TArray<Type.TObject<{ timestamp: Type.TString } & Counts>> =>
  Type.Array(strictObject({ timestamp: Instant, ...counts }), { description: "Oldest first" });

/** The pagination of a listing that continues at a cursor. */
export const CursorPagination: ObjectSchema<resources.CursorPagination> = strictObject({
  hasMore: Type.Boolean(),
  nextCursor: nullable(
    Type.String({ description: "The `cursor` of the next page; null if hasMore is false" }),
  ),
});
