/** A world, a fake that tells of it, and the collector that asks the fake: for one source. */
import { DAY_MS } from "../../../core/time.ts";
import { createClient } from "../../../server/collectors/client.ts";
import type { Collector, Source } from "../../../server/collectors/port.ts";
import { bluesky } from "../../../server/collectors/bluesky.ts";
import { x } from "../../../server/collectors/x.ts";
import { youtube } from "../../../server/collectors/youtube.ts";
import { handleOf, madeAt, openBluesky } from "./bluesky.ts";
import type { Fake } from "./fake.ts";
import { replacing, type Fault } from "./faults.ts";
import {
  countsOfChannel,
  countsOfPost,
  countsOfUser,
  countsOfVideo,
  type WorldCounts,
} from "./growth.ts";
import {
  createWorld,
  isThere,
  NOW,
  type Post,
  type User,
  type World,
  type WorldPlan,
} from "./world.ts";
import { openX } from "./x.ts";
import { openYoutube } from "./youtube.ts";

/** What a fake of a source is opened with, that must never be told to anyone. */
export const SECRET = "s3cret/that+nobody=sees";

/** What can go, and hide its counts. */
interface Part {
  readonly fate: { goneAt: number; hiddenAt: number };
  /** What its counts are now. */
  counts(): WorldCounts;
  /** Spoils one count of it in an answer. */
  readonly spoiling: Fault;
}

/** A short or a tweet of a stage. */
export interface StageItem extends Part {
  readonly id: string;
  /** As the platform tells it. */
  readonly publishedAt: number;
}

/** A channel or a user of a stage. */
export interface StageOwner extends Part {
  /** As a target names it. */
  readonly id: string;
  /** As an observation names it. */
  readonly entity: string;
  /** Those of its items that are there now, and that are its own. */
  items(): readonly StageItem[];
}

/** What differs from source to source. */
interface Sides {
  readonly fake: Fake;
  readonly collector: Collector;
  readonly owners: readonly StageOwner[];
  /** Tells nobody and nothing there is. */
  readonly unknown: { readonly owner: string; readonly item: string };
  /** A part of the path of what lists items. */
  readonly listing: RegExp;
}

/** Opens a stage; the first owner has items for several pages, and the others a few. */
export async function openStage(source: Source, plan: Partial<WorldPlan> = {}) {
  const clock = { now: NOW };
  const many = (owner: number) => (owner === 0 ? 260 : 3);
  const world = createWorld({
    beganAt: NOW - 90 * DAY_MS,
    endsAt: NOW + 10 * DAY_MS,
    channels: source === "youtube" ? 120 : 0,
    shortsEach: many,
    creators: source === "youtube" ? 0 : 120,
    postsEach: many,
    ...plan,
  });
  const now = () => clock.now;
  const sides = await SIDES[source](world, now);
  return { source, clock, world, ...sides, close: sides.fake.close };
}

/** An opened stage. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

const isWired = true;

const SIDES: Readonly<Record<Source, (world: World, now: () => number) => Promise<Sides>>> = {
  async youtube(world, now) {
    const fake = await openYoutube({ world, now, apiKey: SECRET, isWired });
    const owners = world.channels.map((channel, index) => ({
      id: index % 10 === 0 ? `@${channel.handle}` : channel.id,
      entity: channel.id,
      fate: channel,
      counts: () => countsOfChannel(channel, now()),
      spoiling: spoil(channel.id, "viewCount", '"338K"'),
      items: () =>
        channel.shorts
          .filter((short) => isThere(short, now()))
          .map((short) => ({
            id: short.id,
            fate: short,
            publishedAt: Math.floor(short.publishedAt / 1000) * 1000,
            counts: () => countsOfVideo(short, now()),
            spoiling: spoil(short.id, "viewCount", '"338K"'),
          })),
    }));
    return {
      fake,
      collector: youtube({ baseUrl: fake.baseUrl, apiKey: SECRET }),
      owners,
      unknown: { owner: "@nobody", item: "nothingHere" },
      listing: /^\/playlistItems/,
    };
  },
  async x(world, now) {
    const fake = await openX({ world, now, bearerToken: SECRET, isWired });
    const itemOf = (post: Post) => ({
      id: post.snowflake,
      fate: post,
      publishedAt: post.publishedAt,
      counts: () => countsOfPost(post, now()),
      spoiling: spoil(post.snowflake, "like_count", "-7"),
    });
    return {
      fake,
      collector: x({ baseUrl: fake.baseUrl, bearerToken: SECRET }),
      owners: world.users.map((user) => ({
        id: user.name.toLowerCase(),
        entity: user.name.toLowerCase(),
        fate: user,
        counts: () => countsOfUser(user, now()),
        spoiling: spoil(user.id, "followers_count", "1.5"),
        items: () => ownPosts(user, now()).map(itemOf),
      })),
      unknown: { owner: "nobody", item: "20" },
      listing: /^\/2\/users\/\d+\/tweets/,
    };
  },
  async bluesky(world, now) {
    const fake = await openBluesky({ world, now, isWired });
    const itemOf = (post: Post) => ({
      id: post.recordKey,
      fate: post,
      publishedAt: madeAt(post),
      counts: () => ({ ...countsOfPost(post, now()), impressions: null }),
      spoiling: spoil(`[^"]*${post.recordKey}`, "likeCount", '"12K"'),
    });
    return {
      fake,
      collector: bluesky({ baseUrl: fake.baseUrl }),
      owners: world.users.map((user) => ({
        id: handleOf(user),
        entity: handleOf(user),
        fate: user,
        counts: () => countsOfUser(user, now()),
        spoiling: spoil(user.did, "followersCount", '"12K"'),
        items: () => ownPosts(user, now()).map(itemOf),
      })),
      unknown: { owner: "nobody.bsky.social", item: "3l6oveex3ii2l" },
      listing: /getAuthorFeed$/,
    };
  },
};

function ownPosts(user: User, now: number): Post[] {
  return user.posts.filter((post) => post.kind === "post" && isThere(post, now));
}

/** Puts something else in place of a count of an entity, in the first answer that has it. */
function spoil(id: string, name: string, value: string): Fault {
  return replacing(
    new RegExp(`("(?:id|did|uri)":"${id}".*?"${name}":)"?\\d+"?`, "g"),
    `$1${value}`,
  );
}

/** How a client is made for a test. */
export type ClientOptions = Partial<Parameters<typeof createClient>[0]>;

/** Makes what the collector of a stage works with, and counts what it takes. */
export function surround(stage: Stage, options: ClientOptions = {}) {
  const taken = new Map<string, number>();
  const retried: string[] = [];
  const client = createClient({
    collector: stage.collector,
    now: () => stage.clock.now,
    take: async (bucket) => {
      taken.set(bucket, (taken.get(bucket) ?? 0) + 1);
      return true;
    },
    startTimeout: stage.fake.startTimeout,
    retries: 2,
    retryMinMs: 1,
    onRetry: (reason) => void retried.push(reason),
    ...options,
  });
  return {
    ask: client.ask,
    /** Units that were taken, of all buckets. */
    taken: () => taken.values().reduce((sum, units) => sum + units, 0),
    /** Why requests were tried again. */
    retried: (): readonly string[] => retried,
  };
}

/** What surrounds the collector of a stage. */
export type StageSurroundings = ReturnType<typeof surround>;
