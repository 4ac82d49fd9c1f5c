/**
 * What the fakes of the platforms tell of: channels with their videos, and users with their posts.
 *
 * A world is a pure function of its plan and the clock; what a test changes of it (someone goes,
 * is renamed, hides a count) are plain fields. All instants are milliseconds since 1970 UTC.
 */
import { DAY_MS } from "../../../core/time.ts";
import { draw, hashSeed } from "../../../server/demo/random.ts";
import {
  createChannelId,
  createDid,
  createRecordKey,
  createSnowflake,
  createVideoId,
} from "./identifiers.ts";

/** The instant that the clock of a test begins at. */
export const NOW = Date.parse("2026-11-20T12:00:00.000Z");

/** What can go and hide a count; both are instants, `Infinity` for never. */
interface Lifecycle {
  /** From when it is deleted or suspended. */
  goneAt: number;
  /** From when it hides those of its counts that can be hidden. */
  hiddenAt: number;
}

/** A video of a channel; a short is one of at most 180 s. */
export interface WorldVideo extends Lifecycle {
  readonly id: string;
  readonly seed: number;
  readonly channel: WorldChannel;
  readonly title: string;
  readonly publishedAt: number;
  readonly durationS: number;
}

/** A channel. */
export interface WorldChannel extends Lifecycle {
  readonly id: string;
  readonly seed: number;
  /** Without `@`; change it with `renameChannel`. */
  readonly handle: string;
  readonly title: string;
  readonly joinedAt: number;
  /** Whether the platform has the undocumented list of its shorts. */
  hasShortsList: boolean;
  /** Oldest first, those to come included. */
  readonly shorts: readonly WorldVideo[];
  /** Shorts and longer videos, oldest first, those to come included. */
  readonly uploads: readonly WorldVideo[];
}

/** A post of a user. */
export interface WorldPost extends Lifecycle {
  readonly seed: number;
  readonly user: WorldUser;
  /** Its identifier on X, and its record key on Bluesky. */
  readonly snowflake: string;
  readonly recordKey: string;
  readonly text: string;
  /** When the platform got it. */
  readonly publishedAt: number;
  /** When its client claims to have made it. */
  claimedAt: number;
  readonly kind: "post" | "reply" | "repost";
  /** Of a repost: whose first post it repeats. */
  readonly reposted: WorldUser | undefined;
}

/** A user. */
export interface WorldUser extends Lifecycle {
  readonly index: number;
  readonly seed: number;
  /** Its identifier on X, and on Bluesky. */
  readonly id: string;
  readonly did: string;
  /** As it is spelt on X; on Bluesky it is the first label of the handle. See `renameUser`. */
  readonly name: string;
  readonly joinedAt: number;
  /** Whether only its followers see its posts. */
  isProtected: boolean;
  /** Oldest first, those to come included. */
  readonly posts: readonly WorldPost[];
}

/** How many there are, of each owner all the same or by the owner's place. */
export type CountPerOwner = number | ((owner: number) => number);

/** What a world has. */
export interface WorldPlan {
  /** Between these its items are published. */
  readonly beganAt: number;
  readonly endsAt: number;
  readonly channels?: number;
  readonly shortsEach?: CountPerOwner;
  readonly longVideosEach?: CountPerOwner;
  readonly creators?: number;
  readonly postsEach?: CountPerOwner;
  /** Which part of the posts are replies, reposts, and falsely dated; none unless told. */
  readonly replyShare?: number;
  readonly repostShare?: number;
  readonly falselyDatedShare?: number;
  /** Which part of the items is deleted within ten days; none unless told. */
  readonly deletedShare?: number;
}

const SECOND_MS = 1000;

/** Makes a world. */
export function createWorld(plan: WorldPlan) {
  const channels = Array.from({ length: plan.channels ?? 0 }, (_, index) =>
    createChannel(plan, index),
  );
  const users = Array.from({ length: plan.creators ?? 0 }, (_, index) => createUser(plan, index));
  for (const user of users) fillPosts(plan, user, users);
  const handles = new Map(channels.map((channel) => [channel.handle.toLowerCase(), channel]));
  const names = new Map(users.map((user) => [user.name.toLowerCase(), user]));
  const posts = users.flatMap((user) => user.posts.filter(({ kind }) => kind !== "repost"));
  return {
    channels,
    users,
    channelById: new Map(channels.map((channel) => [channel.id, channel])),
    channelByHandle: (handle: string) => handles.get(handle.toLowerCase()),
    videoById: new Map(
      channels.flatMap(({ uploads }) => uploads.map((video) => [video.id, video] as const)),
    ),
    userById: new Map(users.map((user) => [user.id, user])),
    userByDid: new Map(users.map((user) => [user.did, user])),
    userByName: (name: string) => names.get(name.toLowerCase()),
    postBySnowflake: new Map(posts.map((post) => [post.snowflake, post])),
    /** By `<did>/<record key>`. */
    postByRecord: new Map(posts.map((post) => [`${post.user.did}/${post.recordKey}`, post])),
    /** Gives a channel another handle; nobody has the old one then. */
    renameChannel(channel: WorldChannel, handle: string): void {
      handles.delete(channel.handle.toLowerCase());
      handles.set(handle.toLowerCase(), channel);
      Object.assign(channel, { handle });
    },
    /** Gives a user another name; nobody has the old one then. */
    renameUser(user: WorldUser, name: string): void {
      names.delete(user.name.toLowerCase());
      names.set(name.toLowerCase(), user);
      Object.assign(user, { name });
    },
  };
}

/** A world. */
export type World = ReturnType<typeof createWorld>;

/** Where the first of some items lies that comes after an instant; they are ordered by it. */
export function countUntil(items: readonly { readonly publishedAt: number }[], at: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.publishedAt ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether something is there at an instant. */
export function isPresent(
  entity: Lifecycle & { readonly publishedAt?: number },
  now: number,
): boolean {
  return now < entity.goneAt && (entity.publishedAt ?? 0) <= now;
}

function createChannel(plan: WorldPlan, index: number): WorldChannel {
  const seed = hashSeed(`channel ${index}`);
  const uploads: WorldVideo[] = [];
  const channel = {
    id: createChannelId(index),
    seed,
    handle: `channel_${index}`,
    title: `Channel ${index}`,
    joinedAt: plan.beganAt - DAY_MS * (100 + (index % 1000)),
    hasShortsList: true,
    shorts: [],
    uploads,
    goneAt: Infinity,
    hiddenAt: Infinity,
  };
  const shorts = createVideos(plan, channel, { index, kind: "short", amount: plan.shortsEach });
  const long = createVideos(plan, channel, { index, kind: "long", amount: plan.longVideosEach });
  uploads.push(...[...shorts, ...long].toSorted((a, b) => a.publishedAt - b.publishedAt));
  return Object.assign(channel, { shorts });
}

function createVideos(
  plan: WorldPlan,
  channel: WorldChannel,
  what: { index: number; kind: "short" | "long"; amount: CountPerOwner | undefined },
): WorldVideo[] {
  return createInstants(
    plan,
    channel.seed + what.kind.length,
    resolveCount(what.amount, what.index),
  ).map((publishedAt, place) => {
    const seed = hashSeed(`${what.kind} ${what.index}/${place}`);
    return {
      id: createVideoId(what.index, what.kind, place),
      seed,
      channel,
      title: `${what.kind} ${place} of ${channel.title}`,
      publishedAt,
      durationS: what.kind === "short" ? 5 + (place % 176) : 181 + (place % 7000),
      goneAt: drawGoneAt(plan, seed, publishedAt),
      hiddenAt: Infinity,
    };
  });
}

function createUser(plan: WorldPlan, index: number): WorldUser {
  const seed = hashSeed(`creator ${index}`);
  return {
    index,
    seed,
    id: String(1_000_000 + index * 37),
    did: createDid(index),
    name: `Creator${index}`,
    joinedAt: plan.beganAt - DAY_MS * (100 + (index % 1000)),
    isProtected: false,
    posts: [],
    goneAt: Infinity,
    hiddenAt: Infinity,
  };
}

function fillPosts(plan: WorldPlan, user: WorldUser, users: readonly WorldUser[]): void {
  const neighbour = users[(user.index + 1) % users.length];
  const replies = plan.replyShare ?? 0;
  const reposts = replies + (plan.repostShare ?? 0);
  const posts = createInstants(plan, user.seed, resolveCount(plan.postsEach, user.index)).map(
    (publishedAt, place): WorldPost => {
      const seed = hashSeed(`post ${user.index}/${place}`);
      const chance = draw(seed, 0);
      const kind = chance < replies ? "reply" : chance < reposts ? "repost" : "post";
      const isFalselyDated = draw(seed, 1) < (plan.falselyDatedShare ?? 0);
      return {
        seed,
        user,
        snowflake: createSnowflake(publishedAt, user.index),
        recordKey: createRecordKey(publishedAt, user.index),
        text: `Post ${place} of ${user.name} 🌍`,
        publishedAt,
        claimedAt:
          publishedAt -
          SECOND_MS +
          (isFalselyDated ? Math.round((draw(seed, 2) - 0.5) * 400 * DAY_MS) : 0),
        kind,
        reposted: kind === "repost" ? neighbour : undefined,
        goneAt: drawGoneAt(plan, seed, publishedAt),
        hiddenAt: Infinity,
      };
    },
  );
  Object.assign(user, { posts });
}

/** When an item is deleted, if ever. */
function drawGoneAt(plan: WorldPlan, seed: number, publishedAt: number): number {
  if (draw(seed, 8) >= (plan.deletedShare ?? 0)) return Infinity;
  return publishedAt + Math.ceil(draw(seed, 9) * 10 * DAY_MS);
}

function resolveCount(amount: CountPerOwner | undefined, owner: number): number {
  return typeof amount === "function" ? amount(owner) : (amount ?? 0);
}

/** Instants spread over the plan's time, in order, each in a stretch of its own. */
function createInstants(plan: WorldPlan, seed: number, count: number): number[] {
  const slotMs = (plan.endsAt - plan.beganAt) / count;
  return Array.from({ length: count }, (_, place) =>
    Math.floor(plan.beganAt + (place + 0.9 * draw(seed, place)) * slotMs),
  );
}
