/** The tasks of Bluesky: users by their handles, the posts of a user, and the counts of known posts. */
import { Type } from "@sinclair/typebox";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import {
  parseItems,
  readInstant,
  Unchecked,
  UncheckedFields,
  type ParsedItem,
} from "../client/responses.ts";
import {
  SourceError,
  type Collector,
  type CollectorContext,
  type PollBatch,
} from "../collector.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import { createBatchTask, createListTask, pollNewestFirst, type ListPage } from "../poll-tasks.ts";
import type { CollectionTarget } from "../targets.ts";
import { BLUESKY } from "./source.ts";

const BATCH_SIZE = 25;

const Profile = Type.Object({
  did: Type.String(),
  handle: Type.String(),
  verification: Type.Optional(Type.Object({ verifiedStatus: Unchecked })),
});

const ProfilesResponse = Type.Object({ profiles: Type.Array(Type.Unknown()) });

/** Observes users by their handles. */
const pollProfiles: PollBatch = async (batch, context) => {
  const response = await context.request({
    bucket: "general",
    path: "/xrpc/app.bsky.actor.getProfiles",
    query: { actors: batch.map(({ id }) => id) },
    schema: ProfilesResponse,
  });
  const { items: profiles, warning } = parseItems(BLUESKY.title, Profile, response.profiles);
  const byHandle = new Map(profiles.map((profile) => [foldCase(profile.handle), profile]));
  const requested = new Set(batch.map(({ id }) => foldCase(id)));
  const others = profiles
    .map(({ handle }) => handle)
    .filter((handle) => !requested.has(foldCase(handle)));
  return batch.map(({ id }) => {
    const profile = byHandle.get(foldCase(id));
    if (profile !== undefined) return createUserResult(context, id, profile);
    if (warning !== undefined || others.length === 0)
      return createGoneResult(id, `Bluesky has no profile ${id}`, warning);
    const failure = `Bluesky returned nothing for ${id}, but ${quoteValue(others.join(", "))}`;
    return { targetId: id, failure };
  });
};

function createUserResult(
  context: CollectorContext,
  targetId: string,
  profile: ParsedItem<typeof Profile>,
) {
  const { verification } = profile;
  return createPollResult(context, targetId, "user", {
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

/** Deleted posts are left out. */
const PostsResponse = Type.Object({ posts: Type.Array(Type.Unknown()) });

const REPOST_REASON = "app.bsky.feed.defs#reasonRepost";
const POST_URI_PATTERN = /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/([^/]+)$/;
const PAGE_SIZE = 100;
const PAGES_MAX = 50;

/** Finds the new posts of a user, without replies and reposts, and observes them. */
async function* pollFeed(target: CollectionTarget, context: CollectorContext) {
  const failure = BLUESKY.explainInvalidUsername(target.id);
  if (failure !== undefined) throw new SourceError("rejected", failure);
  yield* pollNewestFirst(target.id, PAGES_MAX, (cursor) =>
    fetchFeedPage(target.id, cursor, context),
  );
}

async function fetchFeedPage(
  targetId: string,
  cursor: string | undefined,
  context: CollectorContext,
): Promise<ListPage> {
  const response = await context.request({
    bucket: "general",
    path: "/xrpc/app.bsky.feed.getAuthorFeed",
    query: { actor: targetId, limit: String(PAGE_SIZE), filter: "posts_no_replies", cursor },
    schema: FeedResponse,
  });
  const { items: entries, warning } = parseItems(BLUESKY.title, FeedEntry, response.feed);
  const posts = entries
    .filter(({ reason }) => reason?.["$type"] !== REPOST_REASON)
    .map(({ post }) => post);
  const knownItems = await context.findKnownItems(posts.map(({ uri }) => readRecordKey(uri) ?? ""));
  const findKnownItem = ({ uri }: Post) => knownItems.get(readRecordKey(uri) ?? "");
  return {
    entries: posts.map((post) => {
      const failure = explainForeignPost(targetId, post, findKnownItem(post));
      return failure === undefined
        ? readPost(context, targetId, post, post.author.handle)
        : { result: { targetId, failure } };
    }),
    warning,
    // A page of reposts alone says nothing about the pages after it.
    isKnown: posts.length > 0 && posts.every((post) => findKnownItem(post) !== undefined),
    nextCursor: response.cursor,
  };
}

/** @param knownItem The known item with the record key of the post. */
function explainForeignPost(
  targetId: string,
  { uri, author: { handle } }: Post,
  knownItem: CollectionTarget | undefined,
): string | undefined {
  if (foldCase(handle) !== foldCase(targetId)) {
    return `The post ${uri} must be of ${targetId}, and is of ${handle}`;
  }
  // Clients choose record keys: two users can have the same.
  const knownUri = knownItem?.sourceState["uri"] ?? uri;
  return knownUri === uri
    ? undefined
    : `The post ${uri} has the record key of another, ${knownUri}`;
}

/** Observes the counts of known posts. */
const pollPostCounts: PollBatch = async (batch, context) => {
  const uris = batch.flatMap(({ sourceState }) => sourceState["uri"] ?? []);
  const response =
    uris.length === 0
      ? { posts: [] }
      : await context.request({
          bucket: "general",
          path: "/xrpc/app.bsky.feed.getPosts",
          query: { uris },
          schema: PostsResponse,
        });
  const { items: posts, warning } = parseItems(BLUESKY.title, Post, response.posts);
  const byUri = new Map(posts.map((post) => [post.uri, post]));
  return batch.map(({ id, sourceState, owner }) => {
    const { uri, username = owner } = sourceState;
    // Found by another source, polled before this one.
    if (uri === undefined) {
      return { targetId: id, failure: `Bluesky has no post ${id}: another source found it` };
    }
    const post = byUri.get(uri);
    if (post === undefined) {
      return createGoneResult(id, `Bluesky has no post ${uri}: it was deleted`, warning);
    }
    // A post stays with the username under which it was found, even if the handle has changed.
    const { handle } = post.author;
    const isSame = username === null || foldCase(handle) === foldCase(username);
    return readPost(context, id, post, isSame ? handle : username).result;
  });
};

function readPost(context: CollectorContext, targetId: string, post: Post, username: string) {
  const { uri, record } = post;
  const fail = (failure: string) => ({ result: { targetId, failure } });
  const id = readRecordKey(uri);
  if (id === undefined) return fail(`A post must be at://…/app.bsky.feed.post/…, got ${uri}`);
  if (record === undefined) return fail(`Bluesky returned no record of the post ${uri}`);
  const indexedAt = readInstant(post["indexedAt"]);
  if (indexedAt === undefined) return fail(`Bluesky returned no date of the post ${uri}`);
  // The client claims `createdAt`, and can be wrong; it cannot be later than the indexing.
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
    result: createPollResult(context, targetId, "tweet", fields),
    item: { id, publishedAt, sourceState: { uri, username } },
  };
}

const readRecordKey = (uri: string) => POST_URI_PATTERN.exec(uri)?.[1];

export const BLUESKY_TASKS: Collector["tasks"] = {
  profile: createBatchTask("general", BATCH_SIZE, pollProfiles, BLUESKY.explainInvalidUsername),
  items: createListTask("general", pollFeed),
  counts: createBatchTask("general", BATCH_SIZE, pollPostCounts),
};
