/**
 * What differs from source to source in the tests of all sources: the fake platform, the collector
 * that polls the fake, the true values, and traits of the API.
 */
import type { Collector, TaskName } from "../../../server/collectors/collector.ts";
import type { SourceName } from "./source-names.ts";
import { createBlueskyCollector } from "../../../server/collectors/bluesky/collector.ts";
import { createXCollector } from "../../../server/collectors/x/collector.ts";
import { createYoutubeCollector } from "../../../server/collectors/youtube/collector.ts";
import { handleOf, createBlueskyError, createdAtOf, openFakeBluesky } from "./fake-bluesky.ts";
import { replaceText, type FakeResponse, type Fault } from "./faults.ts";
import {
  countsOfChannel,
  countsOfPost,
  countsOfUser,
  countsOfVideo,
  type WorldCounts,
} from "./world-counts.ts";
import { isPresent, type WorldPost, type WorldUser, type World } from "./world.ts";
import { createXError, openFakeX } from "./fake-x.ts";
import { createYoutubeError, openFakeYoutube } from "./fake-youtube.ts";

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
export interface PlatformSetup<S extends SourceName> {
  readonly fake: Fakes[S];
  readonly collector: Collector;
  readonly owners: readonly FixtureOwner[];
  /** Identifiers that do not exist. */
  readonly unknown: { readonly owner: string; readonly item: string };
  /** Matches the path of requests that list items. */
  readonly listingPath: RegExp;
  /** Returns what the request that lists the items of an owner contains. */
  listingPathOf(owner: FixtureOwner): string;
}

const hasProxy = true;

type Setups = {
  readonly [S in SourceName]: (world: World, now: () => number) => Promise<PlatformSetup<S>>;
};

export const SETUPS: Setups = {
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
      listingPathOf: ({ entity }) => `playlistId=UUSH${entity.slice(2)}`,
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
      listingPathOf: ({ id }) => `/2/users/${world.userByName(id)?.id}/tweets`,
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
      listingPathOf: ({ id }) => `getAuthorFeed?actor=${id}`,
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

/** What tests must know of the API of a source. */
interface ApiTraits {
  /** The query parameter that only requests of later pages have. */
  readonly cursorParameter: string;
  /** The fields that identify an entry of a response, by task. */
  readonly identityFields: Readonly<Record<TaskName, readonly string[]>>;
  /** A response with status 400. */
  readonly badRequest: FakeResponse;
  /** What a message says of a response of `failWithStatus()`, after the status. */
  readonly failureDescription: string;
}

export const API_TRAITS: Readonly<Record<SourceName, ApiTraits>> = {
  youtube: {
    cursorParameter: "pageToken",
    // A list needs two requests, and either response can be malformed.
    identityFields: { profile: ["id"], items: ["videoId", "id"], counts: ["id"] },
    badRequest: createYoutubeError(400, "invalidParameter"),
    failureDescription: ': "Backend Error"',
  },
  x: {
    cursorParameter: "pagination_token",
    identityFields: { profile: ["username", "id"], items: ["id"], counts: ["id"] },
    badRequest: createXError(400, "Invalid Request"),
    failureDescription: "",
  },
  bluesky: {
    cursorParameter: "cursor",
    identityFields: { profile: ["handle", "did"], items: ["uri"], counts: ["uri"] },
    badRequest: createBlueskyError(
      400,
      "InvalidRequest",
      "Error: Params must have valid properties",
    ),
    failureDescription: "",
  },
};
