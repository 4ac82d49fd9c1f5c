/**
 * For each source: a world, a fake platform that serves it, and the collector that polls the fake. Also
 * a context to run the collector without the service.
 */
import { afterEach, beforeEach } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { createSourceRateLimiter } from "../../../server/collectors/rate-limiter.ts";
import { createSourceClient } from "../../../server/collectors/client/source-client.ts";
import type { Collector } from "../../../server/collectors/collector.ts";
import type { SourceName } from "./source-names.ts";
import { createBlueskyCollector } from "../../../server/collectors/bluesky/collector.ts";
import { createXCollector } from "../../../server/collectors/x/collector.ts";
import { createYoutubeCollector } from "../../../server/collectors/youtube/collector.ts";
import { handleOf, createdAtOf, openFakeBluesky } from "./fake-bluesky.ts";
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

/** The credential that each fake accepts. No message may contain it. */
export const SECRET = "s3cret/that+nobody=sees";

/** An entity that a test can delete, or whose counts it can hide or corrupt. */
interface FixtureEntity {
  /** Instants in milliseconds since 1970 UTC. */
  readonly lifecycle: { goneAt: number; hiddenAt: number };
  /** The true counts at the fixture's clock. */
  counts(): WorldCounts;
  /** Corrupts one of its counts in a response. */
  readonly corruptionFault: Fault;
}

/** A short or a tweet. */
export interface FixtureItem extends FixtureEntity {
  readonly id: string;
  /** With the precision of the platform. */
  readonly publishedAt: number;
}

/** A channel or a user. */
export interface FixtureOwner extends FixtureEntity {
  /** The identifier of its target. */
  readonly id: string;
  /** The identifier of its observations. */
  readonly entity: string;
  /** Its own items that exist at the fixture's clock. */
  items(): readonly FixtureItem[];
}

interface Fakes {
  readonly youtube: Awaited<ReturnType<typeof openFakeYoutube>>;
  readonly x: Awaited<ReturnType<typeof openFakeX>>;
  readonly bluesky: Awaited<ReturnType<typeof openFakeBluesky>>;
}

/** The parts of a fixture that differ from source to source. */
interface PlatformSetup<S extends SourceName> {
  readonly fake: Fakes[S];
  readonly collector: Collector;
  readonly owners: readonly FixtureOwner[];
  /** Identifiers that do not exist. */
  readonly unknown: { readonly owner: string; readonly item: string };
  /** Matches the path of requests that list items. */
  readonly listingPath: RegExp;
}

/** A world, a fake platform that serves it, and the collector that polls the fake. */
export interface PlatformFixture<S extends SourceName = SourceName> extends PlatformSetup<S> {
  readonly source: S;
  readonly clock: { now: number };
  readonly world: World;
  close(): Promise<void>;
}

/** Opens a fixture. By default the first owner has several pages of items, the others three items. */
export async function openFixture<S extends SourceName>(
  source: S,
  plan: Partial<WorldPlan> = {},
): Promise<PlatformFixture<S>> {
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
  const setup = await SETUPS[source](world, () => clock.now);
  return { source, clock, world, ...setup, close: setup.fake.close };
}

/**
 * Opens a fixture before each test and closes it after. Call it at the top of a file or in
 * `describe()`.
 *
 * @returns The fixture of the test that is running; its properties change from test to test.
 */
export function useFixture<S extends SourceName>(
  source: S,
  plan: Partial<WorldPlan> = {},
): PlatformFixture<S> {
  let opened: PlatformFixture<S> | undefined;
  beforeEach(async () => {
    opened = await openFixture(source, plan);
  });
  afterEach(() => opened?.close());
  const current = () => {
    if (opened === undefined) throw new Error("The fixture is open in tests only");
    return opened;
  };
  return {
    source,
    get clock() {
      return current().clock;
    },
    get world() {
      return current().world;
    },
    get fake() {
      return current().fake;
    },
    get collector() {
      return current().collector;
    },
    get owners() {
      return current().owners;
    },
    get unknown() {
      return current().unknown;
    },
    get listingPath() {
      return current().listingPath;
    },
    close: () => current().close(),
  };
}

const hasProxy = true;

type Setups = {
  readonly [S in SourceName]: (world: World, now: () => number) => Promise<PlatformSetup<S>>;
};

const SETUPS: Setups = {
  async youtube(world, now) {
    const fake = await openFakeYoutube({ world, now, apiKey: SECRET, hasProxy });
    const owners = world.channels.map((channel, index) => ({
      id: index % 10 === 0 ? `@${channel.handle}` : channel.id,
      entity: channel.id,
      lifecycle: channel,
      counts: () => countsOfChannel(channel, now()),
      corruptionFault: corruptCount(channel.id, "viewCount", '"338K"'),
      items: () =>
        channel.shorts
          .filter((short) => isPresent(short, now()))
          .map((short) => ({
            id: short.id,
            lifecycle: short,
            publishedAt: Math.floor(short.publishedAt / 1000) * 1000,
            counts: () => countsOfVideo(short, now()),
            corruptionFault: corruptCount(short.id, "viewCount", '"338K"'),
          })),
    }));
    return {
      fake,
      collector: createYoutubeCollector({ baseUrl: fake.baseUrl, credential: SECRET }),
      owners,
      unknown: { owner: "@nobody", item: "nothingHere" },
      listingPath: /^\/playlistItems/,
    };
  },
  async x(world, now) {
    const fake = await openFakeX({ world, now, bearerToken: SECRET, hasProxy });
    const itemOf = (post: WorldPost) => ({
      id: post.snowflake,
      lifecycle: post,
      publishedAt: post.publishedAt,
      counts: () => countsOfPost(post, now()),
      corruptionFault: corruptCount(post.snowflake, "like_count", "-7"),
    });
    return {
      fake,
      collector: createXCollector({ baseUrl: fake.baseUrl, credential: SECRET }),
      owners: world.users.map((user) => ({
        id: user.name.toLowerCase(),
        entity: user.name.toLowerCase(),
        lifecycle: user,
        counts: () => countsOfUser(user, now()),
        corruptionFault: corruptCount(user.id, "followers_count", "1.5"),
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
      lifecycle: post,
      publishedAt: createdAtOf(post),
      counts: () => ({ ...countsOfPost(post, now()), impressions: null }),
      corruptionFault: corruptCount(`[^"]*${post.recordKey}`, "likeCount", '"12K"'),
    });
    return {
      fake,
      collector: createBlueskyCollector({ baseUrl: fake.baseUrl, credential: "" }),
      owners: world.users.map((user) => ({
        id: handleOf(user),
        entity: handleOf(user),
        lifecycle: user,
        counts: () => countsOfUser(user, now()),
        corruptionFault: corruptCount(user.did, "followersCount", '"12K"'),
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

/** Replaces a count of an entity in a response. */
function corruptCount(id: string, name: string, value: string): Fault {
  return replaceText(
    new RegExp(`("(?:id|did|uri)":"${id}".*?"${name}":)"?\\d+"?`, "g"),
    `$1${value}`,
  );
}

/** Options of a client in a test. */
export type TestClientOptions = Partial<Parameters<typeof createSourceClient>[0]>;

/** Creates the context of the fixture's collector, and counts the units that it uses. */
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
    signal: new AbortController().signal,
    report: (event) => {
      if (event.kind === "retried") retryReasons.push(event.reason);
    },
    ...options,
  });
  return {
    request: client.request,
    /** Units used, of all buckets. */
    taken: () => takenUnits.values().reduce((sum, units) => sum + units, 0),
    /** Why requests were retried. */
    retried: (): readonly string[] => retryReasons,
  };
}

/** The context of a fixture's collector. */
export type TestContext = ReturnType<typeof createTestContext>;
