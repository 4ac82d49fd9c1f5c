/** Schemas of observations in imports and exports. An unreported field is absent or `null`. */
import * as Type from "@sinclair/typebox";
import type { EntityKind } from "../kinds.ts";
import { LINK_MAX_CHARACTERS, TEXT_MAX_CHARACTERS } from "../limits.ts";
import {
  CountOrNull,
  createTextSchema,
  DATE_PATTERN,
  describe,
  Identifier,
  nullable,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createAttributeSchemas, createCountSchemas } from "./kind-fields.ts";

const TIME_PATTERN =
  "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)?";

/** Like `parseInstant()`, but a zone may move an instant out of the years 0 to 9999. */
const instant = Type.String({ pattern: `^${DATE_PATTERN}(?:T${TIME_PATTERN})?$` });

const TYPES = {
  // Neither `.` nor `..`, which no path can name.
  identifier: Type.String({ pattern: `^(?!\\.\\.?$)${(Identifier.pattern ?? "").slice(1)}` }),
  text: Type.Optional(nullable(createTextSchema(0, TEXT_MAX_CHARACTERS))),
  link: Type.Optional(nullable(createTextSchema(0, LINK_MAX_CHARACTERS))),
  instant: Type.Optional(nullable(instant)),
  boolean: Type.Optional(nullable(Type.Boolean())),
};

/** Creates the schema of an observation: an entity, an instant, attributes and counts. */
function createObservationSchema<Kind extends EntityKind>(kind: Kind) {
  return Type.Object({
    kind: Type.Literal(kind, { description: "What is observed" }),
    observedAt: describe(instant, "When the source said so, in ISO 8601"),
    ...createAttributeSchemas(kind, TYPES),
    ...createCountSchemas(kind, Type.Optional(CountOrNull)),
  });
}

/** An observation of a channel. */
export const ChannelObservation: ResourceSchemas["ChannelObservation"] =
  createObservationSchema("channel");

/** An observation of a short. */
export const ShortObservation: ResourceSchemas["ShortObservation"] =
  createObservationSchema("short");

/** An observation of a user. */
export const UserObservation: ResourceSchemas["UserObservation"] = createObservationSchema("user");

/** An observation of a tweet. */
export const TweetObservation: ResourceSchemas["TweetObservation"] =
  createObservationSchema("tweet");

/** One line of an import or export. */
export const ObservationLine: ResourceSchemas["ObservationLine"] = Type.Union([
  ChannelObservation,
  ShortObservation,
  UserObservation,
  TweetObservation,
]);
