/** Reads owners and their items from memory: channels with shorts, and users with tweets. */
import type { ComparisonRequest } from "../batch.ts";
import { EMPTY_ENTITY, findNewestCounts, type Entity } from "../entities.ts";
import { createNotFoundError } from "../errors.ts";
import { computeEntityGains } from "../growth.ts";
import type { HistoryRequest } from "../history-request.ts";
import { KINDS, type ItemKind, type OwnerKind } from "../kinds.ts";
import { readFields } from "../responses/entity-fields.ts";
import { createComparisonTable, createHistoryPage } from "../responses/histories.ts";
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
import { listPoints, type Entities } from "./memory-observations.ts";

/** An owner that was observed. */
interface FoundOwner {
  readonly id: string;
  /** As responses call it. */
  readonly name: string;
}

/** What differs between channels and users. */
interface OwnerRules<Kind, Item, Owner, Fields, Details> {
  readonly kind: Kind;
  readonly item: Item;
  readonly find: (name: string) => Owner | undefined;
  readonly createDetails: (owner: Owner) => Details;
  /** Reads an item; `undefined` while it is not known when it was published: it is not listed yet. */
  readonly readItem: (id: string, entity: Entity) => Fields | undefined;
}

/** Creates the reads that channels with shorts and users with tweets have in common. */
function createOwnerReads<
  Kind extends OwnerKind,
  Item extends ItemKind,
  Owner extends FoundOwner,
  Fields,
  Details,
>(entities: Entities, rules: OwnerRules<Kind, Item, Owner, Fields, Details>) {
  const { kind, item, find, createDetails, readItem } = rules;
  const tryOwner = (name: string) => find(name) ?? createNotFoundError(kind, name);

  function getOwner(name: string): Owner {
    const owner = tryOwner(name);
    if (owner instanceof Error) throw owner;
    return owner;
  }

  function listItems({ id: ownerId }: FoundOwner) {
    return listOwned(entities, item, ownerId).flatMap(([id, entity]) => {
      const fields = readItem(id, entity);
      return fields === undefined ? [] : [{ id, fields, points: listPoints(entities, item, id) }];
    });
  }

  function getItem(name: string, id: string) {
    const owner = getOwner(name);
    const found = listItems(owner).find((listed) => listed.id === id);
    if (found === undefined) throw createNotFoundError(item, name, id);
    return { owner, ...found };
  }

  return {
    getOwner,
    listItems,
    getItem,
    readDetails: async (name: string) => ({ body: createDetails(getOwner(name)) }),
    readBatch: async (names: readonly string[]) =>
      names.map(tryOwner).map((owner) => (owner instanceof Error ? owner : createDetails(owner))),
    async readComparison(request: ComparisonRequest<Kind>): StoreRead<Comparison> {
      const found = request.names.map(tryOwner);
      const histories = found.map((owner) =>
        owner instanceof Error ? [] : listPoints(entities, kind, owner.id),
      );
      const { rows, pagination } = createComparisonTable(histories, request.countIndex, request);
      const names = found.map((owner) => (owner instanceof Error ? owner : owner.name));
      return { body: { entities: names, rows, pagination } };
    },
    createHistory: ({ id }: FoundOwner, request: HistoryRequest) =>
      createHistoryPage(kind, listPoints(entities, kind, id), request),
  };
}

/** The identifier of the owner of an item. */
function readOwnerId(kind: ItemKind, { attributes }: Entity): string {
  const id = String(attributes[KINDS[kind].owner.field]?.value);
  return kind === "tweet" ? foldCase(id) : id;
}

/** The items of an owner, by identifier. */
const listOwned = (entities: Entities, kind: ItemKind, ownerId: string) =>
  Array.from(entities[kind]).filter(([, entity]) => readOwnerId(kind, entity) === ownerId);

/** Creates the reads of channels and shorts. */
export function createVideoReads(entities: Entities): VideoStore {
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
    channel: reads.readDetails,
    channelBatch: reads.readBatch,
    channelComparison: reads.readComparison,
    async shorts(name, request) {
      const channel = reads.getOwner(name);
      const shorts = reads.listItems(channel).map(({ fields }) => fields);
      return { body: createShortsPage(channel.name, shorts, request) };
    },
    async short(name, id) {
      const { fields, points } = reads.getItem(name, id);
      return { body: createShortDetails(fields, points) };
    },
    async channelHistory(name, request) {
      const channel = reads.getOwner(name);
      return { body: { channel: channel.name, ...reads.createHistory(channel, request) } };
    },
    async shortHistory(name, id, request) {
      const { owner, points } = reads.getItem(name, id);
      const page = createHistoryPage("short", points, request);
      return { body: { channel: owner.name, short_id: id, ...page } };
    },
  };
}

/** Creates the reads of users, whom an observation of them or of a tweet names, and tweets. */
export function createMicroblogReads(entities: Entities): MicroblogStore {
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
    user: reads.readDetails,
    userBatch: reads.readBatch,
    userComparison: reads.readComparison,
    async tweets(username, request, now) {
      const user = reads.getOwner(username);
      return { body: createTweetsPage(user.name, reads.listItems(user), request, now) };
    },
    async followers(username, request, now) {
      const { id, name } = reads.getOwner(username);
      const points = listPoints(entities, "user", id);
      return { body: createFollowersPage(name, points, request, now) };
    },
    async tweet(username, id) {
      const { owner, ...tweet } = reads.getItem(username, id);
      return { body: createTweetDetails(owner.name, tweet) };
    },
    async userHistory(username, request) {
      const user = reads.getOwner(username);
      return { body: { username: user.name, ...reads.createHistory(user, request) } };
    },
    async tweetHistory(username, id, request) {
      const { owner, points } = reads.getItem(username, id);
      const page = createHistoryPage("tweet", points, request);
      return { body: { username: owner.name, tweet_id: id, ...page } };
    },
  };
}
