/** A world, a fake that tells of it, and the collector that asks the fake: for one source. */
import { DAY_MS } from "../../../core/time.ts";
import { createSourceRateLimiter } from "../../../server/collectors/rate-limiter.ts";
import { createSourceClient } from "../../../server/collectors/client/source-client.ts";
import type { Collector, Source } from "../../../server/collectors/collector.ts";
import { createBlueskyCollector } from "../../../server/collectors/bluesky/collector.ts";
import { createXCollector } from "../../../server/collectors/x/collector.ts";
import { createYoutubeCollector } from "../../../server/collectors/youtube/collector.ts";
import { handleOf, createdAtOf, openFakeBluesky } from "./fake-bluesky.ts";
import type { FakeServer } from "./fake-server.ts";
import { replaceText, type Fault } from "./faults.ts";
import {
  countsOfChannel,
  countsOfPost,
  countsOfUser,
  countsOfVideo,
  type WorldCounts,
} from "./world-counts.ts";
import {
  createWorld,
  isPresent,
  NOW,
  type WorldPost,
  type WorldUser,
  type World,
  type WorldPlan,
} from "./world.ts";
import { openFakeX } from "./fake-x.ts";
import { openFakeYoutube } from "./fake-youtube.ts";

/** What a fake of a source is opened with, that must never be told to anyone. */
export const SECRET = "s3cret/that+nobody=sees";

/** What can go, and hide its counts. */
interface FixtureEntity {
  readonly fate: { goneAt: number; hiddenAt: number };
  /** What its counts are now. */
  counts(): WorldCounts;
  /** Spoils one count of it in an answer. */
  readonly spoiling: Fault;
}

/** A short or a tweet of a stage. */
export interface FixtureItem extends FixtureEntity {
  readonly id: string;
  /** As the platform tells it. */
  readonly publishedAt: number;
}

/** A channel or a user of a stage. */
export interface FixtureOwner extends FixtureEntity {
  /** As a target names it. */
  readonly id: string;
  /** As an observation names it. */
  readonly entity: string;
  /** Those of its items that are there now, and that are its own. */
  items(): readonly FixtureItem[];
}

/** What differs from source to source. */
interface PlatformSetup {
  readonly fake: FakeServer;
  readonly collector: Collector;
  readonly owners: readonly FixtureOwner[];
  /** Tells nobody and nothing there is. */
  readonly unknown: { readonly owner: string; readonly item: string };
  /** A part of the path of what lists items. */
  readonly listingPath: RegExp;
}

/** Opens a stage; the first owner has items for several pages, and the others a few. */
export async function openFixture(source: Source, plan: Partial<WorldPlan> = {}) {
  const clock = { now: NOW };
  const itemsPerOwner = (owner: number) => (owner === 0 ? 260 : 3);
  const world = createWorld({
    beganAt: NOW - 90 * DAY_MS,
    endsAt: NOW + 10 * DAY_MS,
    channels: source === "youtube" ? 120 : 0,
    shortsEach: itemsPerOwner,
    creators: source === "youtube" ? 0 : 120,
    postsEach: itemsPerOwner,
    ...plan,
  });
  const now = () => clock.now;
  const setup = await SETUPS[source](world, now);
  return { source, clock, world, ...setup, close: setup.fake.close };
}

/** An opened stage. */
export type PlatformFixture = Awaited<ReturnType<typeof openFixture>>;

const hasProxy = true;

const SETUPS: Readonly<
  Record<Source, (world: World, now: () => number) => Promise<PlatformSetup>>
> = {
  async youtube(world, now) {
    const fake = await openFakeYoutube({ world, now, apiKey: SECRET, hasProxy });
    const owners = world.channels.map((channel, index) => ({
      id: index % 10 === 0 ? `@${channel.handle}` : channel.id,
      entity: channel.id,
      fate: channel,
      counts: () => countsOfChannel(channel, now()),
      spoiling: corruptCount(channel.id, "viewCount", '"338K"'),
      items: () =>
        channel.shorts
          .filter((short) => isPresent(short, now()))
          .map((short) => ({
            id: short.id,
            fate: short,
            publishedAt: Math.floor(short.publishedAt / 1000) * 1000,
            counts: () => countsOfVideo(short, now()),
            spoiling: corruptCount(short.id, "viewCount", '"338K"'),
          })),
    }));
    return {
      fake,
      collector: createYoutubeCollector({ baseUrl: fake.baseUrl, apiKey: SECRET }),
      owners,
      unknown: { owner: "@nobody", item: "nothingHere" },
      listingPath: /^\/playlistItems/,
    };
  },
  async x(world, now) {
    const fake = await openFakeX({ world, now, bearerToken: SECRET, hasProxy });
    const itemOf = (post: WorldPost) => ({
      id: post.snowflake,
      fate: post,
      publishedAt: post.publishedAt,
      counts: () => countsOfPost(post, now()),
      spoiling: corruptCount(post.snowflake, "like_count", "-7"),
    });
    return {
      fake,
      collector: createXCollector({ baseUrl: fake.baseUrl, bearerToken: SECRET }),
      owners: world.users.map((user) => ({
        id: user.name.toLowerCase(),
        entity: user.name.toLowerCase(),
        fate: user,
        counts: () => countsOfUser(user, now()),
        spoiling: corruptCount(user.id, "followers_count", "1.5"),
        items: () => ownPosts(user, now()).map(itemOf),
      })),
      unknown: { owner: "nobody", item: "20" },
      listingPath: /^\/2\/users\/\d+\/tweets/,
    };
  },
  async bluesky(world, now) {
    const fake = await openFakeBluesky({ world, now, hasProxy });
    const itemOf = (post: WorldPost) => ({
      id: post.recordKey,
      fate: post,
      publishedAt: createdAtOf(post),
      counts: () => ({ ...countsOfPost(post, now()), impressions: null }),
      spoiling: corruptCount(`[^"]*${post.recordKey}`, "likeCount", '"12K"'),
    });
    return {
      fake,
      collector: createBlueskyCollector({ baseUrl: fake.baseUrl }),
      owners: world.users.map((user) => ({
        id: handleOf(user),
        entity: handleOf(user),
        fate: user,
        counts: () => countsOfUser(user, now()),
        spoiling: corruptCount(user.did, "followersCount", '"12K"'),
        items: () => ownPosts(user, now()).map(itemOf),
      })),
      unknown: { owner: "nobody.bsky.social", item: "3l6oveex3ii2l" },
      listingPath: /getAuthorFeed$/,
    };
  },
};

function ownPosts(user: WorldUser, now: number): WorldPost[] {
  return user.posts.filter((post) => post.kind === "post" && isPresent(post, now));
}

/** Puts something else in place of a count of an entity, in the first answer that has it. */
function corruptCount(id: string, name: string, value: string): Fault {
  return replaceText(
    new RegExp(`("(?:id|did|uri)":"${id}".*?"${name}":)"?\\d+"?`, "g"),
    `$1${value}`,
  );
}

/** How a client is made for a test. */
export type TestClientOptions = Partial<Parameters<typeof createSourceClient>[0]>;

/** Makes what the collector of a stage works with, and counts what it takes. */
export function createTestContext(fixture: PlatformFixture, options: TestClientOptions = {}) {
  const takenUnits = new Map<string, number>();
  const retryReasons: string[] = [];
  const client = createSourceClient({
    collector: fixture.collector,
    now: () => fixture.clock.now,
    rateLimiter: createSourceRateLimiter(fixture.collector, () => fixture.clock.now),
    reserveUnit: async (bucket) => {
      takenUnits.set(bucket, (takenUnits.get(bucket) ?? 0) + 1);
      return true;
    },
    startTimeout: fixture.fake.startTimeout,
    maxRetries: 2,
    retryMinMs: 1,
    onRetry: (reason) => void retryReasons.push(reason),
    ...options,
  });
  return {
    request: client.request,
    /** Units that were taken, of all buckets. */
    taken: () => takenUnits.values().reduce((sum, units) => sum + units, 0),
    /** Why requests were tried again. */
    retried: (): readonly string[] => retryReasons,
  };
}

/** What surrounds the collector of a stage. */
export type TestContext = ReturnType<typeof createTestContext>;
