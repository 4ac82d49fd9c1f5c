/** Holds the types of core/resources to the schemas; the compiler is what checks them. */
import { expect, test } from "bun:test";
import * as Type from "@sinclair/typebox";
import type { Static } from "@sinclair/typebox";
import type * as resources from "../../core/resources/mod.ts";
import { Count, nullable, openObject, strictObject } from "../../core/schema/fields.ts";
import * as schemas from "../../core/schema/mod.ts";
import type { ObjectSchema } from "../../core/schema/object-schema.ts";

/** Whether each of two types is assignable to the other. */
type AreSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Does not compile for two types that differ. */
const isSame = <A, B>(areSame: AreSame<A, B>): boolean => areSame;

// @ts-expect-error A type without one of the fields.
isSame<{ id: string }, { id: string; name: string | null }>(true);

interface Item {
  id: string;
  likes?: number;
}

/** Has a field of each sort that a resource has. */
interface Resource extends Item {
  name: string | null;
  size: "large" | "small";
  item: Item;
  items: Item[];
  named: Record<string, Item>;
  found: (Item | { error: string })[];
}

const text = Type.String();
const likes = Type.Optional(Count);
const ITEM = { id: text, likes };
const item = strictObject(ITEM);
const error = strictObject({ error: text });
const longItem = strictObject({ ...ITEM, more: likes });

/** The fields of a schema of `Resource`, all but `id`. */
const REST = {
  likes,
  name: nullable(text),
  size: Type.Unsafe<"large" | "small">({}),
  item,
  items: Type.Array(item),
  named: Type.Record(text, item),
  found: Type.Array(Type.Union([item, error])),
};
const FIELDS = { ...REST, id: text };

/** Does not compile for a schema of another type than `Resource`. */
const hold = (schema: ObjectSchema<Resource>) => schema;

hold(strictObject(FIELDS));
hold(openObject(FIELDS));

// The compiler rejects the rest: it also reports a directive without an error.

// @ts-expect-error Lacks a required field.
hold(strictObject(REST));
// @ts-expect-error Has one more field.
hold(strictObject({ ...FIELDS, more: text }));
// @ts-expect-error Has one more field, which is optional.
hold(strictObject({ ...FIELDS, more: likes }));
// @ts-expect-error Has a field of another type.
hold(strictObject({ ...FIELDS, id: Count }));
// @ts-expect-error Has a field that can be null.
hold(strictObject({ ...FIELDS, id: nullable(text) }));
// @ts-expect-error Has a field that cannot be null.
hold(strictObject({ ...FIELDS, name: text }));
// @ts-expect-error Has a required field as an optional one.
hold(strictObject({ ...FIELDS, id: Type.Optional(text) }));
// @ts-expect-error Has an optional field as a required one.
hold(strictObject({ ...FIELDS, likes: Count }));
// @ts-expect-error Allows one value of two.
hold(strictObject({ ...FIELDS, size: Type.Literal("small") }));
// @ts-expect-error Allows any text instead of two values.
hold(strictObject({ ...FIELDS, size: text }));
// @ts-expect-error Has an object that lacks an optional field.
hold(strictObject({ ...FIELDS, item: strictObject({ id: text }) }));
// @ts-expect-error Has an object with one more field.
hold(strictObject({ ...FIELDS, item: longItem }));
// @ts-expect-error Has an array of objects that lack an optional field.
hold(strictObject({ ...FIELDS, items: Type.Array(strictObject({ id: text })) }));
// @ts-expect-error Has an array of objects with one more field.
hold(strictObject({ ...FIELDS, items: Type.Array(longItem) }));
// @ts-expect-error Has a record of objects with one more field.
hold(strictObject({ ...FIELDS, named: Type.Record(text, longItem) }));
// @ts-expect-error Has one type of a union of two.
hold(strictObject({ ...FIELDS, found: Type.Array(item) }));
// @ts-expect-error Has one more field in a type of a union.
hold(strictObject({ ...FIELDS, found: Type.Array(Type.Union([longItem, error])) }));
// @ts-expect-error Is not created by a function that keeps both directions.
hold(Type.Object(FIELDS));

const COMPARED = {
  AccountDetails: isSame<Static<typeof schemas.AccountDetails>, resources.AccountDetails>(true),
  ChannelBatch: isSame<Static<typeof schemas.ChannelBatch>, resources.ChannelBatch>(true),
  ChannelBatchRequest: isSame<
    Static<typeof schemas.ChannelBatchRequest>,
    resources.ChannelBatchRequest
  >(true),
  ChannelComparison: isSame<Static<typeof schemas.ChannelComparison>, resources.ChannelComparison>(
    true,
  ),
  ChannelDetails: isSame<Static<typeof schemas.ChannelDetails>, resources.ChannelDetails>(true),
  ChannelHistory: isSame<Static<typeof schemas.ChannelHistory>, resources.ChannelHistory>(true),
  ChannelList: isSame<Static<typeof schemas.ChannelList>, resources.ChannelList>(true),
  ChannelObservation: isSame<
    Static<typeof schemas.ChannelObservation>,
    resources.ChannelObservation
  >(true),
  ChannelSummary: isSame<Static<typeof schemas.ChannelSummary>, resources.ChannelSummary>(true),
  CreatorList: isSame<Static<typeof schemas.CreatorList>, resources.CreatorList>(true),
  CreatorRequest: isSame<Static<typeof schemas.CreatorRequest>, resources.CreatorRequest>(true),
  CreatorResult: isSame<Static<typeof schemas.CreatorResult>, resources.CreatorResult>(true),
  FollowersPage: isSame<Static<typeof schemas.FollowersPage>, resources.FollowersPage>(true),
  ListedChannel: isSame<Static<typeof schemas.ListedChannel>, resources.ListedChannel>(true),
  ListedUser: isSame<Static<typeof schemas.ListedUser>, resources.ListedUser>(true),
  ObservationLine: isSame<Static<typeof schemas.ObservationLine>, resources.ObservationLine>(true),
  Pagination: isSame<Static<typeof schemas.Pagination>, resources.Pagination>(true),
  ServiceError: isSame<Static<typeof schemas.ServiceError>, resources.ServiceError>(true),
  ShortDetails: isSame<Static<typeof schemas.ShortDetails>, resources.ShortDetails>(true),
  ShortHistory: isSame<Static<typeof schemas.ShortHistory>, resources.ShortHistory>(true),
  ShortObservation: isSame<Static<typeof schemas.ShortObservation>, resources.ShortObservation>(
    true,
  ),
  ShortSummary: isSame<Static<typeof schemas.ShortSummary>, resources.ShortSummary>(true),
  ShortsPage: isSame<Static<typeof schemas.ShortsPage>, resources.ShortsPage>(true),
  TweetDetails: isSame<Static<typeof schemas.TweetDetails>, resources.TweetDetails>(true),
  TweetHistory: isSame<Static<typeof schemas.TweetHistory>, resources.TweetHistory>(true),
  TweetObservation: isSame<Static<typeof schemas.TweetObservation>, resources.TweetObservation>(
    true,
  ),
  TweetRecord: isSame<Static<typeof schemas.TweetRecord>, resources.TweetRecord>(true),
  TweetsPage: isSame<Static<typeof schemas.TweetsPage>, resources.TweetsPage>(true),
  UsageRow: isSame<Static<typeof schemas.UsageRow>, resources.UsageRow>(true),
  UsageStatuses: isSame<Static<typeof schemas.UsageStatuses>, resources.UsageStatuses>(true),
  UserBatch: isSame<Static<typeof schemas.UserBatch>, resources.UserBatch>(true),
  UserBatchRequest: isSame<Static<typeof schemas.UserBatchRequest>, resources.UserBatchRequest>(
    true,
  ),
  UserComparison: isSame<Static<typeof schemas.UserComparison>, resources.UserComparison>(true),
  UserDetails: isSame<Static<typeof schemas.UserDetails>, resources.UserDetails>(true),
  UserHistory: isSame<Static<typeof schemas.UserHistory>, resources.UserHistory>(true),
  UserList: isSame<Static<typeof schemas.UserList>, resources.UserList>(true),
  UserObservation: isSame<Static<typeof schemas.UserObservation>, resources.UserObservation>(true),
  UserSummary: isSame<Static<typeof schemas.UserSummary>, resources.UserSummary>(true),
  VideoError: isSame<Static<typeof schemas.VideoError>, resources.VideoError>(true),
};

test("every schema describes the resource type of its name, and the type describes nothing else", () => {
  expect(Object.keys(COMPARED).toSorted()).toEqual(Object.keys(schemas).toSorted());
});
