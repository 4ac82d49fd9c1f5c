/**
 * The data of the fake platforms: channels with their videos, and users with their posts.
 *
 * A world is a pure function of its plan and the clock. What a test changes (deletes, renames,
 * hides) are plain fields. All instants are milliseconds since 1970 UTC.
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

/** Where the clock of a test begins. */
export const NOW = Date.parse("2026-11-20T12:00:00.000Z");

/** The lifecycle of an entity, in instants; `Infinity` for never. */
interface Lifecycle {
  /** When it is deleted or suspended. */
  goneAt: number;
  /** When it hides the counts that can be hidden. */
  hiddenAt: number;
}

/** A video of a channel; a short is up to 180 s long. */
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
  /** Whether it has the undocumented playlist of its shorts. */
  hasShortsList: boolean;
  /** Oldest first, including future ones. */
  readonly shorts: readonly WorldVideo[];
  /** Shorts and longer videos, oldest first, including future ones. */
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
  /** When the platform indexed it. */
  readonly publishedAt: number;
  /** The date that its client claims. */
  claimedAt: number;
  readonly kind: "post" | "reply" | "repost";
  /** Of a repost: the user whose first post it repeats. */
  readonly reposted: WorldUser | undefined;
}

/** A user. */
export interface WorldUser extends Lifecycle {
  readonly index: number;
  readonly seed: number;
  /** Its identifier on X, and on Bluesky. */
  readonly id: string;
  readonly did: string;
  /** In the spelling of X; on Bluesky it is the first label of the handle. See `renameUser`. */
  readonly name: string;
  readonly joinedAt: number;
  /** Whether only its followers see its posts. */
  isProtected: boolean;
  /** Oldest first, including future ones. */
  readonly posts: readonly WorldPost[];
}

/** A number of items: the same for each owner, or by the index of the owner. */
export type CountPerOwner = number | ((owner: number) => number);

/** The contents of a world. */
export interface WorldPlan {
  /** Items are published between these instants. */
  readonly beganAt: number;
  readonly endsAt: number;
  readonly channels?: number;
  readonly shortsEach?: CountPerOwner;
  readonly longVideosEach?: CountPerOwner;
  readonly creators?: number;
  readonly postsEach?: CountPerOwner;
  /** The shares of replies, reposts and falsely dated posts, 0 by default. */
  readonly replyShare?: number;
  readonly repostShare?: number;
  readonly falselyDatedShare?: number;
  /** The share of items that are deleted within ten days, 0 by default. */
  readonly deletedShare?: number;
}

const SECOND_MS = 1000;

/** Creates a world. */
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
    /** Gives a channel a new handle; the old one no longer exists. */
    renameChannel(channel: WorldChannel, handle: string): void {
      handles.delete(channel.handle.toLowerCase());
      handles.set(handle.toLowerCase(), channel);
      Object.assign(channel, { handle });
    },
    /** Gives a user a new name; the old one no longer exists. */
    renameUser(user: WorldUser, name: string): void {
      names.delete(user.name.toLowerCase());
      names.set(name.toLowerCase(), user);
      Object.assign(user, { name });
    },
  };
}

/** A world. */
export type World = ReturnType<typeof createWorld>;

/** Returns the index of the first item after an instant, by binary search. */
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

/** Whether an item exists at an instant. */
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

/** Returns when an item is deleted. */
function drawGoneAt(plan: WorldPlan, seed: number, publishedAt: number): number {
  if (draw(seed, 8) >= (plan.deletedShare ?? 0)) return Infinity;
  return publishedAt + Math.ceil(draw(seed, 9) * 10 * DAY_MS);
}

function resolveCount(amount: CountPerOwner | undefined, owner: number): number {
  return typeof amount === "function" ? amount(owner) : (amount ?? 0);
}

/** Returns ascending instants spread over the plan's time. */
function createInstants(plan: WorldPlan, seed: number, count: number): number[] {
  const slotMs = (plan.endsAt - plan.beganAt) / count;
  return Array.from({ length: count }, (_, place) =>
    Math.floor(plan.beganAt + (place + 0.9 * draw(seed, place)) * slotMs),
  );
}
