/** The reads of the store in memory: channels with shorts, and users with tweets. */
import type { ComparisonRequest } from "../batch.ts";
import { EMPTY_ENTITY, findNewestCounts, type Entity } from "../entities.ts";
import { createNotFoundError, type DomainError } from "../errors.ts";
import { computeEntityGains } from "../growth.ts";
import { createComparisonTable, createHistoryPage, type HistoryRequest } from "../histories.ts";
import { type EntityKind, type ItemKind, type OwnerKind } from "../kinds.ts";
import type { ListRequest } from "../lists.ts";
import { listHistoryPoints, readFields } from "../responses/entity-fields.ts";
import { createChannelList, createUserList } from "../responses/lists.ts";
import {
  createChannelMetrics,
  createShortMetrics,
  createTweetMetrics,
  createUserMetrics,
} from "../responses/metrics.ts";
import {
  createFollowersPage,
  createTweetDetails,
  createTweetsPage,
  createUserDetails,
  findUsername,
} from "../responses/microblog.ts";
import {
  createChannelDetails,
  createShortDetails,
  createShortsPage,
  findChannel,
} from "../responses/video.ts";
import type { Comparison, MicroblogStore, StoreRead, VideoStore } from "../stores.ts";
import { foldCase } from "../text.ts";

import { readOwnerId } from "./memory-items.ts";
import { createTableReads } from "./memory-tables.ts";

import { compareItem } from "./memory-metrics.ts";
import { createShortLookups, createTweetLookups } from "./memory-lookups.ts";

/** The entities of each kind, by identifier. */
type Entities = Readonly<Record<EntityKind, Map<string, Entity>>>;

/** Creates the reads that channels with shorts and users with tweets have in common. */
function createOwnerReads<
  Kind extends OwnerKind,
  Item extends ItemKind,
  Owner extends { readonly id: string; readonly name: string },
  Fields extends { readonly id: string },
  Details,
  NameField extends object,
  ItemField extends object,
>(
  entities: Entities,
  rules: {
    readonly kind: Kind;
    readonly item: Item;
    readonly find: (name: string) => Owner | undefined;
    readonly createDetails: (owner: Owner) => Details;
    readonly createNameField: (name: string) => NameField;
    readonly createItemField: (id: string) => ItemField;
    /** Returns `undefined`, to leave an item out, while its instant of publication is unknown. */
    readonly readItem: (id: string, entity: Entity) => Fields | undefined;
    readonly getPublishedAt: (fields: Fields) => number;
  },
) {
  const { kind, item, find, createDetails, readItem } = rules;
  const tryOwner = (name: string) => find(name) ?? createNotFoundError(kind, name);
  const getOwner = (name: string) => orThrow(tryOwner(name));
  const listPoints = (pointKind: EntityKind, id: string) =>
    listHistoryPoints(pointKind, entities[pointKind].get(id) ?? EMPTY_ENTITY);
  const ownerPoints = (owner: Owner) => listPoints(kind, owner.id);

  const listItems = (owner: Owner) =>
    listOwned(entities, item, owner.id).flatMap(([id, entity]) => {
      const fields = readItem(id, entity);
      if (fields === undefined) return [];
      const publishedAt = rules.getPublishedAt(fields);
      return [{ id, fields, publishedAt, points: listPoints(item, id) }];
    });

  function getItem(name: string, id: string) {
    const owner = getOwner(name);
    const found = listItems(owner).find((listed) => listed.id === id);
    return { owner, ...orThrow(found ?? createNotFoundError(item, name, id)) };
  }

  return {
    getOwner,
    listItems,
    getItem,
    ownerPoints,
    details: async (name: string) => ({ body: createDetails(getOwner(name)) }),
    batch: async (names: readonly string[]) =>
      names.map(tryOwner).map((owner) => (owner instanceof Error ? owner : createDetails(owner))),
    async comparison(request: ComparisonRequest<Kind>): StoreRead<Comparison> {
      const found = request.names.map(tryOwner);
      const histories = found.map((owner) => (owner instanceof Error ? [] : ownerPoints(owner)));
      const { rows, pagination } = createComparisonTable(histories, request.countIndex, request);
      const names = found.map((owner) => (owner instanceof Error ? owner : owner.name));
      return { body: { entities: names, rows, pagination } };
    },
    async history(name: string, request: HistoryRequest) {
      const owner = getOwner(name);
      const page = createHistoryPage(kind, ownerPoints(owner), request);
      return { body: { ...rules.createNameField(owner.name), ...page } };
    },
    async itemHistory(name: string, id: string, request: HistoryRequest) {
      const { owner, points } = getItem(name, id);
      const fields = { ...rules.createNameField(owner.name), ...rules.createItemField(id) };
      return { body: { ...fields, ...createHistoryPage(item, points, request) } };
    },
  };
}

/** Selects the owners that a list shows: those with a name of its saved list, or all. */
function selectNamed<Owner extends { readonly id: string }>(
  owners: readonly Owner[],
  { names }: Pick<ListRequest, "names">,
  find: (name: string) => Owner | undefined,
): readonly Owner[] {
  if (names === undefined) return owners;
  const ids = new Set(names.map((name) => find(name)?.id));
  return owners.filter(({ id }) => ids.has(id));
}

function orThrow<Found>(found: Found | DomainError): Found {
  if (found instanceof Error) throw found;
  return found;
}

/** The items of an owner, by identifier. */
const listOwned = (entities: Entities, kind: ItemKind, ownerId: string) =>
  Array.from(entities[kind]).filter(([, entity]) => readOwnerId(kind, entity) === ownerId);

/** Creates the reads of all entities. */
export function createMemoryReads(entities: Entities): VideoStore & MicroblogStore {
  return { ...createVideoReads(entities), ...createMicroblogReads(entities) };
}

const createChannelLister = (entities: Entities) => () =>
  Array.from(entities.channel, ([id, entity]) => {
    const fields = readFields("channel", id, entity);
    const { username } = fields;
    const observedAt = findNewestCounts(entity)?.at ?? 0;
    const gains = computeEntityGains("channel", entity);
    return { id, name: username ?? id, username, observedAt, fields, gains };
  });

function createVideoReads(entities: Entities): VideoStore {
  const listChannels = createChannelLister(entities);
  const find = (name: string) => findChannel(name, listChannels());
  const reads = createOwnerReads(entities, {
    kind: "channel",
    item: "short",
    createNameField: (channel) => ({ channel }),
    createItemField: (short_id) => ({ short_id }),
    find,
    createDetails: ({ fields, gains }) => createChannelDetails(fields, gains),
    readItem(id, entity) {
      const { publishedAt, ...fields } = readFields("short", id, entity);
      return publishedAt === null ? undefined : { ...fields, publishedAt };
    },
    getPublishedAt: ({ publishedAt }) => publishedAt,
  });
  const tables = createTableReads(entities, {
    kind: "channel",
    item: "short",
    listOwners: listChannels,
    find,
    listItems: reads.listItems,
  });
  const items = createShortLookups(entities, listChannels);
  return {
    async channels() {
      const channels = listChannels();
      const list = { kind: "channel", sort: "subscribers", order: "desc" } as const;
      const request = { ...list, limit: channels.length + 1 };
      return { body: { channels: createChannelList(channels, request).channels } };
    },
    channelPage: async (request) => ({
      body: createChannelList(selectNamed(listChannels(), request, find), request),
    }),
    async channelTable(request) {
      const { rows: channels, pagination } = tables.owners(request);
      return { body: { channels, pagination } };
    },
    channel: reads.details,
    channelBatch: reads.batch,
    channelComparison: reads.comparison,
    async shorts(name, request) {
      const channel = reads.getOwner(name);
      const shorts = reads.listItems(channel).map(({ fields }) => fields);
      return { body: createShortsPage(channel.name, shorts, request) };
    },
    async shortTable(request) {
      const { rows: shorts, pagination } = tables.items(request);
      return { body: { shorts, pagination } };
    },
    shortBatch: items.batch,
    shortComparison: items.comparison,
    async short(name, id) {
      const { fields, points } = reads.getItem(name, id);
      return { body: createShortDetails(fields, points) };
    },
    channelHistory: reads.history,
    shortHistory: reads.itemHistory,
    async channelMetrics(name) {
      const channel = reads.getOwner(name);
      return { body: createChannelMetrics(channel.name, reads.ownerPoints(channel)) };
    },
    async shortMetrics(name, id) {
      const { owner } = reads.getItem(name, id);
      const { item, earlier } = compareItem("short", owner.name, reads.listItems(owner), id);
      return { body: createShortMetrics(item, earlier) };
    },
  };
}

/** A user exists if it or one of its tweets was observed. */
const createUserFinder = (entities: Entities) => (username: string) => {
  const id = foldCase(username);
  const entity = entities.user.get(id) ?? EMPTY_ENTITY;
  const tweets = listOwned(entities, "tweet", id).map(([, tweet]) => tweet);
  const name = findUsername(entity, tweets);
  if (name === undefined) return undefined;
  const gains = computeEntityGains("user", entity);
  return { id, name, fields: readFields("user", name, entity), gains };
};

/** Creates the reads of users and tweets. */
function createMicroblogReads(entities: Entities): MicroblogStore {
  const findUser = createUserFinder(entities);
  const reads = createOwnerReads(entities, {
    kind: "user",
    item: "tweet",
    createNameField: (username) => ({ username }),
    createItemField: (tweet_id) => ({ tweet_id }),
    find: findUser,
    createDetails: ({ fields }) => createUserDetails(fields),
    readItem(id, entity) {
      const { created_at, ...fields } = readFields("tweet", id, entity);
      return created_at === null ? undefined : { ...fields, created_at };
    },
    getPublishedAt: ({ created_at }) => created_at,
  });

  function listUsers() {
    const authors = Array.from(entities.tweet.values(), (tweet) => readOwnerId("tweet", tweet));
    return Array.from(new Set([...entities.user.keys(), ...authors]), reads.getOwner);
  }

  const tables = createTableReads(entities, {
    kind: "user",
    item: "tweet",
    listOwners: listUsers,
    find: findUser,
    listItems: reads.listItems,
  });
  const items = createTweetLookups(entities, findUser);
  return {
    userPage: async (request) => ({
      body: createUserList(selectNamed(listUsers(), request, findUser), request),
    }),
    async userTable(request) {
      const { rows: users, pagination } = tables.owners(request);
      return { body: { users, pagination } };
    },
    user: reads.details,
    userBatch: reads.batch,
    userComparison: reads.comparison,
    async tweets(username, request, now) {
      const user = reads.getOwner(username);
      return { body: createTweetsPage(user.name, reads.listItems(user), request, now) };
    },
    async followers(username, request, now) {
      const user = reads.getOwner(username);
      return { body: createFollowersPage(user.name, reads.ownerPoints(user), request, now) };
    },
    async tweetTable(request) {
      const { rows: tweets, pagination } = tables.items(request);
      return { body: { tweets, pagination } };
    },
    tweetBatch: items.batch,
    tweetComparison: items.comparison,
    async tweet(username, id) {
      const { owner, ...tweet } = reads.getItem(username, id);
      return { body: createTweetDetails(owner.name, tweet) };
    },
    userHistory: reads.history,
    tweetHistory: reads.itemHistory,
    async userMetrics(username) {
      const user = reads.getOwner(username);
      return { body: createUserMetrics(user.name, reads.ownerPoints(user)) };
    },
    async tweetMetrics(username, id) {
      const { owner } = reads.getItem(username, id);
      const { item, earlier } = compareItem("tweet", owner.name, reads.listItems(owner), id);
      return { body: createTweetMetrics(item, earlier) };
    },
  };
}
