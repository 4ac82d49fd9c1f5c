/** The collector of Bluesky's public XRPC API, for users and posts: limits, tasks and errors. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant, MINUTE_MS } from "../../../core/time.ts";
import {
  joinMessages,
  parseItems,
  readInstant,
  readStatusError,
  Unchecked,
  UncheckedFields,
  type ParsedItem,
} from "../client/responses.ts";
import {
  SourceError,
  type CollectorContext,
  type CreateCollector,
  type SourceResponse,
  type CollectionTarget,
} from "../collector.ts";
import {
  createBatchTask,
  createListTask,
  createPollResult,
  observe,
  pollNewestFirst,
  throwFailure,
  throwMissing,
  type PollBatch,
} from "../poll-tasks.ts";
import { BLUESKY } from "./source.ts";

const BATCH_SIZE = 25;

const Profile = Type.Object({
  did: Type.String(),
  handle: Type.String(),
  verification: Type.Optional(Type.Object({ verifiedStatus: Unchecked })),
});

const ProfilesResponse = Type.Object({ profiles: Type.Array(Type.Unknown()) });

const pollProfiles: PollBatch = async (batch, context) => {
  const response = await context.request({
    path: "/xrpc/app.bsky.actor.getProfiles",
    query: { actors: batch.map(({ id }) => id) },
    schema: ProfilesResponse,
  });
  const { items: profiles, warning } = parseItems(BLUESKY.title, Profile, response.profiles);
  const byHandle = new Map(profiles.map((profile) => [foldCase(profile.handle), profile]));
  const requested = new Set(batch.map(({ id }) => foldCase(id)));
  const others = profiles.filter(({ handle }) => !requested.has(foldCase(handle)));
  return ({ id }) => {
    const profile = byHandle.get(foldCase(id));
    if (profile !== undefined) return observeUser(context, profile);
    if (warning !== undefined || others.length === 0)
      throwMissing(`Bluesky has no profile ${id}`, warning);
    const handles = quoteValue(others.map(({ handle }) => handle).join(", "));
    return throwFailure(`Bluesky returned nothing for ${id}, but ${handles}`);
  };
};

function observeUser(context: CollectorContext, profile: ParsedItem<typeof Profile>) {
  const { verification } = profile;
  return observe(context, "user", {
    username: profile.handle,
    displayName: profile["displayName"],
    followers_count: profile["followersCount"],
    following_count: profile["followsCount"],
    tweet_count: profile["postsCount"],
    description: profile["description"],
    profile_image_url: profile["avatar"],
    created_at: profile["createdAt"],
    verified: verification === undefined ? undefined : verification.verifiedStatus === "valid",
  });
}

const Post = Type.Object({
  uri: Type.String(),
  author: Type.Object({ handle: Type.String() }),
  record: UncheckedFields,
});
type Post = ParsedItem<typeof Post>;

const FeedResponse = Type.Object({
  cursor: Type.Optional(Type.String()),
  feed: Type.Array(Type.Unknown()),
});

const FeedEntry = Type.Object({ post: Post, reason: UncheckedFields });

/** Bluesky leaves deleted posts out. */
const PostsResponse = Type.Object({ posts: Type.Array(Type.Unknown()) });

const POST_URI_PATTERN = /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/([^/]+)$/;
const PAGE_SIZE = 100;
const PAGES_MAX = 50;

/** Finds the new posts of a user, without replies and reposts, and observes them. */
const pollFeed = ({ id }: CollectionTarget, context: CollectorContext) =>
  pollNewestFirst(id, PAGES_MAX, (cursor) => fetchFeedPage(id, cursor, context));

async function fetchFeedPage(
  targetId: string,
  cursor: string | undefined,
  context: CollectorContext,
) {
  const response = await context.request({
    path: "/xrpc/app.bsky.feed.getAuthorFeed",
    query: { actor: targetId, limit: String(PAGE_SIZE), filter: "posts_no_replies", cursor },
    schema: FeedResponse,
  });
  const { items: entries, warning } = parseItems(BLUESKY.title, FeedEntry, response.feed);
  const posts = entries
    .filter(({ reason }) => reason?.["$type"] !== "app.bsky.feed.defs#reasonRepost")
    .map(({ post }) => post);
  const knownItems = await context.findKnownItems(posts.map(({ uri }) => readRecordKey(uri) ?? ""));
  const findKnownItem = ({ uri }: Post) => knownItems.get(readRecordKey(uri) ?? "");
  return {
    results: posts.map((post) =>
      createPollResult(targetId, () => {
        checkOwnPost(targetId, post, findKnownItem(post));
        const { observed, item } = readPost(context, post, post.author.handle);
        return { ...observed, items: [item] };
      }),
    ),
    warning,
    // A page of reposts alone says nothing about the pages after it.
    isKnown: posts.length > 0 && posts.every((post) => findKnownItem(post) !== undefined),
    nextCursor: response.cursor,
  };
}

function checkOwnPost(
  targetId: string,
  { uri, author: { handle } }: Post,
  itemWithKey: CollectionTarget | undefined,
): void {
  if (foldCase(handle) !== foldCase(targetId))
    throwFailure(`The post ${uri} must be of ${targetId}, and is of ${handle}`);
  // Clients choose record keys: two users can have the same record key.
  const knownUri = itemWithKey?.sourceState["uri"] ?? uri;
  if (knownUri !== uri) throwFailure(`The post ${uri} has the record key of another, ${knownUri}`);
}

const pollPostCounts: PollBatch = async (batch, context) => {
  const uris = batch.flatMap(({ sourceState }) => sourceState["uri"] ?? []);
  const response =
    uris.length === 0
      ? { posts: [] }
      : await context.request({
          path: "/xrpc/app.bsky.feed.getPosts",
          query: { uris },
          schema: PostsResponse,
        });
  const { items: posts, warning } = parseItems(BLUESKY.title, Post, response.posts);
  const byUri = new Map(posts.map((post) => [post.uri, post]));
  return ({ id, sourceState, owner }) => {
    const { uri, username = owner } = sourceState;
    // Another source, which was polled before Bluesky, found this post.
    if (uri === undefined) throwFailure(`Bluesky has no post ${id}: another source found it`);
    const goneReason = `Bluesky has no post ${uri}: it was deleted`;
    const post = byUri.get(uri) ?? throwMissing(goneReason, warning);
    // A post stays with the username under which it was found, even if the handle has changed.
    const { handle } = post.author;
    const isSame = username === null || foldCase(handle) === foldCase(username);
    return readPost(context, post, isSame ? handle : username).observed;
  };
};

function readPost(context: CollectorContext, post: Post, username: string) {
  const { uri, record } = post;
  const id =
    readRecordKey(uri) ?? throwFailure(`A post must be at://…/app.bsky.feed.post/…, got ${uri}`);
  if (record === undefined) throwFailure(`Bluesky returned no record of the post ${uri}`);
  const indexedAt =
    readInstant(post["indexedAt"]) ?? throwFailure(`Bluesky returned no date of the post ${uri}`);
  // The author's client sets `createdAt`, perhaps wrongly; no post is later than its indexing.
  const publishedAt = Math.min(readInstant(record["createdAt"]) ?? indexedAt, indexedAt);
  const fields = {
    username,
    id,
    text: record["text"],
    created_at: formatInstant(publishedAt),
    url: `https://bsky.app/profile/${username}/post/${id}`,
    likes: post["likeCount"],
    retweets: post["repostCount"],
    replies: post["replyCount"],
    quotes: post["quoteCount"],
  };
  return {
    observed: observe(context, "tweet", fields),
    item: { id, publishedAt, sourceState: { uri, username } },
  };
}

const readRecordKey = (uri: string) => POST_URI_PATTERN.exec(uri)?.[1];

const ErrorBody = Type.Object({
  error: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

const GONE_ERRORS = /^(?:AccountTakedown|AccountDeactivated|AccountSuspended|NotFound)$/;

function readError(response: SourceResponse, now: number): SourceError | undefined {
  const { status, body } = response;
  const { error, message } = Value.Check(ErrorBody, body) ? body : {};
  const isGone = GONE_ERRORS.test(error ?? "") || /^profile not found$/i.test(message ?? "");
  if ((status === 400 || status === 404) && isGone)
    return new SourceError("not-found", `Bluesky says ${quoteValue(message ?? error)}`);
  return readStatusError(BLUESKY.title, response, now, joinMessages(error, message));
}

/** Bluesky needs no key. The daily limit is ours; the window is Bluesky's limit for an address. */
const UNITS_PER_DAY = 200_000;
const WINDOW = { requests: 3000, durationMs: 5 * MINUTE_MS, headerPrefix: "ratelimit" };

export const createBlueskyCollector: CreateCollector = ({ baseUrl }) => ({
  source: BLUESKY,
  baseUrl,
  credentials: { headers: {}, query: {} },
  buckets: { general: { unitsPerDay: UNITS_PER_DAY, zone: "UTC", window: WINDOW } },
  tasks: {
    profile: createBatchTask("general", BATCH_SIZE, pollProfiles, BLUESKY.explainInvalidUsername),
    items: createListTask("general", pollFeed, BLUESKY.explainInvalidUsername),
    counts: createBatchTask("general", BATCH_SIZE, pollPostCounts),
  },
  readError,
});
