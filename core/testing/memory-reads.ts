/** The reads of the store in memory: channels with shorts, and users with tweets. */
import type { ComparisonRequest } from "../batch.ts";
import { EMPTY_ENTITY, findNewestCounts, type Entity } from "../entities.ts";
import { createNotFoundError, type DomainError } from "../errors.ts";
import { computeEntityGains } from "../growth.ts";
import { createComparisonTable, createHistoryPage, type HistoryRequest } from "../histories.ts";
import { KINDS, type EntityKind, type ItemKind, type OwnerKind } from "../kinds.ts";
import { listHistoryPoints, readFields } from "../responses/entity-fields.ts";
import { createChannelList, createUserList } from "../responses/lists.ts";
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

/** The entities of each kind, by identifier. */
type Entities = Readonly<Record<EntityKind, Map<string, Entity>>>;

/** Creates the reads that channels with shorts and users with tweets have in common. */
function createOwnerReads<
  Kind extends OwnerKind,
  Item extends ItemKind,
  Owner extends { readonly id: string; readonly name: string },
  Fields,
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
      return fields === undefined ? [] : [{ id, fields, points: listPoints(item, id) }];
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

function orThrow<Found>(found: Found | DomainError): Found {
  if (found instanceof Error) throw found;
  return found;
}

/** The identifier of the owner of an item. */
function readOwnerId(kind: ItemKind, { attributes }: Entity): string {
  const id = String(attributes[KINDS[kind].owner.field]?.value);
  return kind === "tweet" ? foldCase(id) : id;
}

/** The items of an owner, by identifier. */
const listOwned = (entities: Entities, kind: ItemKind, ownerId: string) =>
  Array.from(entities[kind]).filter(([, entity]) => readOwnerId(kind, entity) === ownerId);

/** Creates the reads of all entities. */
export function createMemoryReads(entities: Entities): VideoStore & MicroblogStore {
  return { ...createVideoReads(entities), ...createMicroblogReads(entities) };
}

function createVideoReads(entities: Entities): VideoStore {
  const listChannels = () =>
    Array.from(entities.channel, ([id, entity]) => {
      const fields = readFields("channel", id, entity);
      const { username } = fields;
      const observedAt = findNewestCounts(entity)?.at ?? 0;
      const gains = computeEntityGains("channel", entity);
      return { id, name: username ?? id, username, observedAt, fields, gains };
    });
  const reads = createOwnerReads(entities, {
    kind: "channel",
    item: "short",
    createNameField: (channel) => ({ channel }),
    createItemField: (short_id) => ({ short_id }),
    find: (name) => findChannel(name, listChannels()),
    createDetails: ({ fields, gains }) => createChannelDetails(fields, gains),
    readItem(id, entity) {
      const { publishedAt, ...fields } = readFields("short", id, entity);
      return publishedAt === null ? undefined : { ...fields, publishedAt };
    },
  });
  return {
    async channels() {
      const channels = listChannels();
      const list = { kind: "channel", sort: "subscribers", order: "desc" } as const;
      const request = { ...list, limit: channels.length + 1 };
      return { body: { channels: createChannelList(channels, request).channels } };
    },
    channelPage: async (request) => ({ body: createChannelList(listChannels(), request) }),
    channel: reads.details,
    channelBatch: reads.batch,
    channelComparison: reads.comparison,
    async shorts(name, request) {
      const channel = reads.getOwner(name);
      const shorts = reads.listItems(channel).map(({ fields }) => fields);
      return { body: createShortsPage(channel.name, shorts, request) };
    },
    async short(name, id) {
      const { fields, points } = reads.getItem(name, id);
      return { body: createShortDetails(fields, points) };
    },
    channelHistory: reads.history,
    shortHistory: reads.itemHistory,
  };
}

/** Creates the reads of users and tweets. A user exists if it or one of its tweets was observed. */
function createMicroblogReads(entities: Entities): MicroblogStore {
  function findUser(username: string) {
    const id = foldCase(username);
    const entity = entities.user.get(id) ?? EMPTY_ENTITY;
    const tweets = listOwned(entities, "tweet", id).map(([, tweet]) => tweet);
    const name = findUsername(entity, tweets);
    if (name === undefined) return undefined;
    const gains = computeEntityGains("user", entity);
    return { id, name, fields: readFields("user", name, entity), gains };
  }
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
  });

  function listUsers() {
    const authors = Array.from(entities.tweet.values(), (tweet) => readOwnerId("tweet", tweet));
    return Array.from(new Set([...entities.user.keys(), ...authors]), reads.getOwner);
  }

  return {
    userPage: async (request) => ({ body: createUserList(listUsers(), request) }),
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
    async tweet(username, id) {
      const { owner, ...tweet } = reads.getItem(username, id);
      return { body: createTweetDetails(owner.name, tweet) };
    },
    userHistory: reads.history,
    tweetHistory: reads.itemHistory,
  };
}
