/**
 * Schemas that several resources share. None has a `format`: TypeBox rejects every value of a format
 * that is not registered, and a registration only reaches one of the copies that a program may load.
 */
import * as Type from "@sinclair/typebox";
import type { SchemaOptions, TSchema } from "@sinclair/typebox";
import { HISTORY_INTERVALS, type HistoryInterval } from "../buckets.ts";
import { INTEGER_MAX } from "../limits.ts";
import type { Nullable } from "./generated/schemas.ts";
import { DATE_PATTERN } from "./texts.ts";

/** A value, or `null` if no source reported it. */
export const nullable = <Schema extends TSchema>(
  schema: Schema,
  options?: SchemaOptions,
): Nullable<Schema> => Type.Union([schema, Type.Null()], options);

/** Creates a copy of a schema with another description. */
export const describe = <Schema extends TSchema>(schema: Schema, description: string): Schema => ({
  ...schema,
  description,
});

/** An object with exactly these fields. */
export const strictObject = <Properties extends Type.TProperties>(
  properties: Properties,
  options?: SchemaOptions,
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

/**
 * One of these names, of letters and spaces. TypeBox checks the pattern, generators of clients read
 * `enum`, and it is smaller than a union of literals.
 */
export const createChoice = <Name extends string>(
  names: readonly Name[],
  description: string,
): Type.TUnsafe<Name> =>
  Type.Unsafe<Name>(
    Type.String({ enum: [...names], pattern: `^(?:${names.join("|")})$`, description }),
  );

/** A day that exists: `2026-11-20`. */
export const Day: Type.TString = Type.String({ pattern: `^${DATE_PATTERN}$` });

/** An instant in UTC with milliseconds: `2026-11-20T08:15:30.123Z`. */
export const Instant: Type.TString = Type.String({
  pattern: `^${DATE_PATTERN}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$`,
});

/** An instant, or `null`. */
export const InstantOrNull: Nullable<Type.TString> = nullable(Instant);

/** How the observations of a history or a comparison are grouped. */
export const Interval: Type.TUnsafe<HistoryInterval> = createChoice(
  HISTORY_INTERVALS,
  "How the observations are grouped",
);

/** The start of a bucket of a history or a comparison. */
export const BucketStart: Type.TString = describe(
  Instant,
  "The start of the bucket; with the interval raw, the instant itself",
);

/** The name of a channel in resources of more than the channel. */
export const ChannelName: Type.TString = Type.String({
  description: "The channel's username, or its identifier if no source reported a username",
});

/** The name of a user. */
export const Username: Type.TString = Type.String({ description: "Username without the @ symbol" });

/** A history of these counts. */
export const createHistorySchema = <Counts extends Type.TProperties>(
  counts: Counts,
): Type.TArray<Type.TObject<{ timestamp: Type.TString } & Counts>> =>
  Type.Array(strictObject({ timestamp: Instant, ...counts }), { description: "Oldest first" });
