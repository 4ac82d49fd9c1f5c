/** Schemas of requests for several entities: batches of details, and comparisons of one count. */
import * as Type from "@sinclair/typebox";
import type { TSchema } from "@sinclair/typebox";
import type * as resources from "../resources/batch.ts";
import { HISTORY_INTERVALS } from "../buckets.ts";
import { ENTITY_FIELDS } from "../entity-kinds.ts";
import { BATCH_MAX_NAMES } from "../limits.ts";
import { ServiceError, VideoError } from "./errors.ts";
import { CountOrNull, createChoice, CursorPagination, Instant, strictObject } from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";
import { Identifier } from "./texts.ts";
import { UserDetails } from "./microblog.ts";
import { ChannelDetails } from "./video.ts";

const createNamesSchema = (description: string) =>
  Type.Array(Identifier, {
    minItems: 1,
    maxItems: BATCH_MAX_NAMES,
    description,
  });

/** The body of `POST /api/video/details`. */
export const ChannelBatchRequest: ObjectSchema<resources.ChannelBatchRequest> = strictObject({
  channels: createNamesSchema("Identifiers, or usernames in any case; a name can be repeated"),
});

/** The body of `POST /api/microblog/details`. */
export const UserBatchRequest: ObjectSchema<resources.UserBatchRequest> = strictObject({
  usernames: createNamesSchema("Usernames without the @ symbol, in any case; may be repeated"),
});

const NAME = Type.String({ description: "As the request has it" });

/** Creates the schema of an entity that a request named: what was found, or the error of a 404. */
const createNamedSchema = <Found extends Record<string, TSchema>, NotFound extends TSchema>(
  found: Found,
  error: NotFound,
) =>
  Type.Union([
    strictObject({ name: NAME, found: Type.Literal(true), ...found }),
    strictObject({ name: NAME, found: Type.Literal(false), error }),
  ]);

const createBatchSchema = <Details extends TSchema, NotFound extends TSchema>(
  details: Details,
  error: NotFound,
) =>
  strictObject({
    results: Type.Array(createNamedSchema({ details }, error), {
      description: "In the order of the request; error is the body of the 404 of a single read",
    }),
  });

/** The response of `POST /api/video/details`. */
export const ChannelBatch: ObjectSchema<resources.ChannelBatch> = createBatchSchema(
  ChannelDetails,
  VideoError,
);

/** The response of `POST /api/microblog/details`. */
export const UserBatch: ObjectSchema<resources.UserBatch> = createBatchSchema(
  UserDetails,
  ServiceError,
);

/** The fields that the comparisons of all kinds have after their entities. */
const TABLE_FIELDS = {
  rows: Type.Array(
    strictObject({
      timestamp: Type.Unsafe<string>({
        ...Instant,
        description: "The start of the bucket; with the interval raw, the instant itself",
      }),
      values: Type.Array(CountOrNull, {
        description:
          "In the order of the entities, the newest known value in the bucket; null if there is none",
      }),
    }),
    { description: "Oldest first; a bucket without any observation is not listed" },
  ),
  pagination: CursorPagination,
};

const ENTITIES_DESCRIPTION =
  "In the order of the request; error is the body of the 404 of a single read";

/** The response of `GET /api/video/compare`. */
export const ChannelComparison: ObjectSchema<resources.ChannelComparison> = strictObject({
  count: createChoice(ENTITY_FIELDS.channel.counts),
  interval: createChoice(HISTORY_INTERVALS),
  channels: Type.Array(
    createNamedSchema(
      {
        channel: Type.String({
          description: "The channel's username, or its identifier if no source reported a username",
        }),
      },
      VideoError,
    ),
    { description: ENTITIES_DESCRIPTION },
  ),
  ...TABLE_FIELDS,
});

/** The response of `GET /api/microblog/compare`. */
export const UserComparison: ObjectSchema<resources.UserComparison> = strictObject({
  count: createChoice(ENTITY_FIELDS.user.counts),
  interval: createChoice(HISTORY_INTERVALS),
  users: Type.Array(createNamedSchema({ username: Type.String() }, ServiceError), {
    description: ENTITIES_DESCRIPTION,
  }),
  ...TABLE_FIELDS,
});
