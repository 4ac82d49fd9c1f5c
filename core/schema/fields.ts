/** The types that fields of several resources share. */
import { FormatRegistry, Type, type SchemaOptions, type TSchema } from "@sinclair/typebox";
import { MAX_INTEGER } from "../limits.ts";
import { parseInstant } from "../time.ts";

// TypeBox knows no formats by itself, and refuses whatever has one that it does not know.
for (const [format, pattern] of [
  ["date-time", /T.*(?:Z|[+-]\d{2}:\d{2})$/],
  ["date", /^\d{4}-\d{2}-\d{2}$/],
] as const) {
  if (FormatRegistry.Has(format)) continue;
  FormatRegistry.Set(format, (text) => pattern.test(text) && parseInstant(text) !== undefined);
}

/** A value, or `null` where no source told it. */
export const nullable = <Schema extends TSchema>(schema: Schema, options?: SchemaOptions) =>
  Type.Union([schema, Type.Null()], options);

/** An object of exactly these fields, all of them present. */
export const strictObject = <Properties extends Record<string, TSchema>>(
  properties: Properties,
  options?: SchemaOptions,
) => Type.Object(properties, { additionalProperties: false, ...options });

/** A count: a whole number from 0 to 2^53 - 1. */
export const Count = Type.Integer({ minimum: 0, maximum: MAX_INTEGER });

/** A count, or `null` where no source told it. */
export const CountOrNull = nullable(Count);

/** A difference of two counts; a loss is negative. */
export const CountChange = Type.Integer({ minimum: -MAX_INTEGER, maximum: MAX_INTEGER });

/** A text, or `null` where no source told it. */
export const TextOrNull = nullable(Type.String());

/** A link as the source gave it, or `null`. */
export const LinkOrNull = nullable(Type.String({ description: "URL" }));

/** An instant, UTC, with milliseconds: `2026-11-20T08:15:30.123Z`. */
export const Instant = Type.String({
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
});

/** An instant, or `null` where no source told it. */
export const InstantOrNull = nullable(Instant);
