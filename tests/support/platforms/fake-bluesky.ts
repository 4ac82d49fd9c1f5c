/** A fake of Bluesky's public XRPC interface. */
import { openFakeServer, type FakeServerOptions } from "./fake-server.ts";
import type { FakeResponse, FakeRequest } from "./faults.ts";
import { countsOfPost, countsOfUser } from "./world-counts.ts";
import { countUntil, isPresent, type WorldPost, type WorldUser, type World } from "./world.ts";

const BATCH_MAX = 25;
const PAGE_MAX = 100;

/** The suffix of every handle. */
const HANDLE_DOMAIN = ".bsky.social";

export function handleOf(user: WorldUser): string {
  return user.name.toLowerCase() + HANDLE_DOMAIN;
}

/** Returns the true date of a post: the earlier of what its client claims and its indexing. */
export function createdAtOf(post: WorldPost): number {
  return Math.min(post.claimedAt, post.publishedAt);
}

/** Returns an error of Bluesky. */
export function createBlueskyError(status: number, error: string, message: string): FakeResponse {
  return { status, body: { error, message } };
}

/** The response if no requested profile exists. */
const PROFILE_NOT_FOUND = createBlueskyError(400, "InvalidRequest", "Profile not found");

const INVALID_REQUEST = createBlueskyError(
  400,
  "InvalidRequest",
  "Error: Params must have valid properties",
);

/** The options of the fake. */
export interface FakeBlueskyOptions extends FakeServerOptions {
  readonly world: World;
}

/** Opens the fake; its one bucket is `all`. */
export async function openFakeBluesky(options: FakeBlueskyOptions) {
  const { world, now } = options;
  let emptyPages = 0;

  const userOf = (actor: string): WorldUser | undefined => {
    const user = actor.startsWith("did:")
      ? world.userByDid.get(actor)
      : world.userByName(actor.toLowerCase().replace(HANDLE_DOMAIN, ""));
    if (user === undefined || !isPresent(user, now())) return undefined;
    return actor.startsWith("did:") || handleOf(user) === actor.toLowerCase() ? user : undefined;
  };

  const answer = ({ path, query }: FakeRequest): FakeResponse => {
    if (path === "/xrpc/app.bsky.actor.getProfiles") return answerProfiles(query);
    if (path === "/xrpc/app.bsky.feed.getAuthorFeed") return answerFeed(query);
    if (path === "/xrpc/app.bsky.feed.getPosts") return answerPosts(query);
    return createBlueskyError(404, "XRPCNotSupported", "XRPCNotSupported");
  };

  const answerProfiles = (query: URLSearchParams): FakeResponse => {
    const actors = query.getAll("actors");
    if (actors.length === 0 || actors.length > BATCH_MAX || !actors.every(isActor))
      return INVALID_REQUEST;
    const found = actors.map(userOf).filter((user) => user !== undefined);
    if (found.length === 0) return PROFILE_NOT_FOUND;
    const at = now();
    return { status: 200, body: { profiles: found.map((user) => writeProfile(user, at)) } };
  };

  const answerFeed = (query: URLSearchParams): FakeResponse => {
    const actor = query.get("actor") ?? "";
    const size = Number(query.get("limit") ?? 50);
    if (!isActor(actor) || !(size >= 1 && size <= PAGE_MAX)) return INVALID_REQUEST;
    const user = userOf(actor);
    if (user === undefined) return PROFILE_NOT_FOUND;
    const at = now();
    const before = Date.parse(query.get("cursor") ?? "9999-01-01T00:00:00Z");
    if (Number.isNaN(before)) return INVALID_REQUEST;
    const end = Math.min(countUntil(user.posts, at), countUntil(user.posts, before - 1));
    if (emptyPages > 0) {
      emptyPages--;
      const cursor = new Date(Math.min(before, at + 1)).toISOString();
      return { status: 200, body: { cursor, feed: [] } };
    }
    const page = user.posts.slice(Math.max(0, end - size), end).toReversed();
    const hasReplies = query.get("filter") !== "posts_no_replies";
    const feed = page
      .filter((post) => isPresent(post, at) && (hasReplies || post.kind !== "reply"))
      .map((post) => writeItem(post, at));
    const last = page.at(-1);
    const cursor = end > size && last !== undefined ? { cursor: writeInstant(last) } : {};
    return { status: 200, body: { ...cursor, feed } };
  };

  const answerPosts = (query: URLSearchParams): FakeResponse => {
    const uris = query.getAll("uris");
    const form = /^at:\/\/([^/]+)\/app\.bsky\.feed\.post\/([^/]+)$/;
    if (uris.length === 0 || uris.length > BATCH_MAX || !uris.every((uri) => form.test(uri))) {
      return INVALID_REQUEST;
    }
    const at = now();
    const posts: unknown[] = [];
    for (const uri of uris) {
      const [, actor = "", key = ""] = form.exec(uri) ?? [];
      const did = userOf(actor)?.did ?? "";
      const post = world.postByRecord.get(`${did}/${key}`);
      if (post !== undefined && isPresent(post, at)) posts.push(writePost(post, at));
    }
    return { status: 200, body: { posts } };
  };

  const bucketOf = () => "all";
  const fake = await openFakeServer({ prefix: "", zone: "UTC", bucketOf, answer }, options);
  return {
    ...fake,
    /** Makes the next pages of feeds empty, with a cursor. */
    sendEmptyPages(count: number): void {
      emptyPages = count;
    },
  };
}

/** Whether a text is a DID or a handle, which has a dot. */
function isActor(text: string): boolean {
  return /^did:[a-z]+:[\w.:%-]+$/.test(text) || /^(?:[a-z\d-]{1,63}\.)+[a-z][a-z\d-]*$/i.test(text);
}

function writeInstant(post: WorldPost): string {
  return new Date(post.publishedAt).toISOString();
}

function writeProfile(user: WorldUser, at: number) {
  const { followers_count, following_count, tweet_count } = countsOfUser(user, at);
  return {
    did: user.did,
    handle: handleOf(user),
    // Most fields of a profile are optional.
    ...(user.index % 5 === 4
      ? {}
      : {
          displayName: `${user.name} the Creator`,
          description: `What ${user.name} makes`,
          avatar: `https://image.test/${user.index}`,
        }),
    ...(followers_count === null ? {} : { followersCount: followers_count }),
    followsCount: following_count,
    postsCount: tweet_count,
    createdAt: new Date(user.joinedAt).toISOString(),
    ...(user.index % 2 === 0 ? { verification: { verifiedStatus: "valid" } } : {}),
  };
}

function writeItem(post: WorldPost, at: number) {
  const original = post.reposted?.posts[0];
  if (original === undefined) return { post: writePost(post, at) };
  return {
    post: writePost(original, at),
    reason: {
      $type: "app.bsky.feed.defs#reasonRepost",
      by: { did: post.user.did, handle: handleOf(post.user) },
      indexedAt: writeInstant(post),
    },
  };
}

function writePost(post: WorldPost, at: number) {
  const { likes, retweets, replies, quotes } = countsOfPost(post, at);
  return {
    uri: `at://${post.user.did}/app.bsky.feed.post/${post.recordKey}`,
    cid: `bafy${post.recordKey}`,
    author: { did: post.user.did, handle: handleOf(post.user) },
    record: {
      $type: "app.bsky.feed.post",
      text: post.text,
      createdAt: new Date(post.claimedAt).toISOString(),
    },
    replyCount: replies,
    repostCount: retweets,
    likeCount: likes,
    ...(quotes === null ? {} : { quoteCount: quotes }),
    indexedAt: writeInstant(post),
  };
}
