/** Schemas of the histories of channels, shorts, users and tweets. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/history.ts";
import { HISTORY_INTERVALS } from "../buckets.ts";
import { ENTITY_FIELDS, type EntityKind } from "../entity-kinds.ts";
import {
  CountChange,
  CountOrNull,
  createChoice,
  CursorPagination,
  Instant,
  nullable,
  strictObject,
} from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

const ChangeOrNull = nullable(CountChange);

/** The names of the counts of a kind. */
type CountName<Kind extends EntityKind> = (typeof ENTITY_FIELDS)[Kind]["counts"][number];

/** Creates a field for each count of a kind, and for the change of each. */
function createCountFields<Kind extends EntityKind>(kind: Kind) {
  const createFields = (schema: typeof CountOrNull) => {
    const fields = ENTITY_FIELDS[kind].counts.map((name) => [name, schema]);
    return Object.fromEntries(fields) as Record<CountName<Kind>, typeof CountOrNull>;
  };
  return { counts: createFields(CountOrNull), changes: createFields(ChangeOrNull) };
}

/** Creates the fields that a page of the history of any kind has. */
const createPageFields = <Counts extends Type.TProperties>(fields: {
  counts: Counts;
  changes: Counts;
}) => ({
  interval: createChoice(HISTORY_INTERVALS),
  history: Type.Array(
    strictObject({
      timestamp: Type.Unsafe<string>({
        ...Instant,
        description: "The start of the bucket; with the interval raw, the instant itself",
      }),
      observedAt: Type.Unsafe<string>({
        ...Instant,
        description: "The newest observation of the bucket",
      }),
      ...fields.counts,
      change: strictObject(fields.changes, {
        description:
          "Differences from the last known counts before the bucket, also before from; null if either is unknown",
      }),
    }),
    {
      description:
        "Oldest first, each with the newest known value of each count; a bucket without an observation is not listed",
    },
  ),
  pagination: CursorPagination,
});

/** The response of `GET /api/video/{channel}/history`. */
export const ChannelHistory: ObjectSchema<resources.ChannelHistory> = strictObject({
  channel: Type.String({
    description: "The channel's username, or its identifier if no source reported a username",
  }),
  ...createPageFields(createCountFields("channel")),
});

/** The response of `GET /api/video/{channel}/short/{short_id}/history`. */
export const ShortHistory: ObjectSchema<resources.ShortHistory> = strictObject({
  channel: Type.String({
    description: "The channel's username, or its identifier if no source reported a username",
  }),
  short_id: Type.String(),
  ...createPageFields(createCountFields("short")),
});

/** The response of `GET /api/microblog/{username}/history`. */
export const UserHistory: ObjectSchema<resources.UserHistory> = strictObject({
  username: Type.String(),
  ...createPageFields(createCountFields("user")),
});

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}/history`. */
export const TweetHistory: ObjectSchema<resources.TweetHistory> = strictObject({
  username: Type.String(),
  tweet_id: Type.String(),
  ...createPageFields(createCountFields("tweet")),
});
