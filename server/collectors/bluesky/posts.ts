/** Polls posts of Bluesky: finds those of a user, and observes the counts of known ones. */
import { Type, type Static } from "@sinclair/typebox";
import type { DiscoveredItem, SourceState, CollectionTarget } from "../../ports/targets.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import { parseItems, readInstant, Unchecked } from "../client/responses.ts";
import { explainInvalidHandle } from "./users.ts";
import { createPollResult, createMissingResult, createObservationRecord } from "../poll-results.ts";
import { pollNewestFirst, type ListEntry, type ListPage } from "../poll-tasks.ts";
import {
  SourceError,
  type PollResult,
  type ObservationRecord,
  type CollectorContext,
} from "../collector.ts";

const Post = Type.Object({
  uri: Type.String(),
  author: Type.Object({ handle: Type.String() }),
  record: Type.Optional(Type.Object({ text: Unchecked, createdAt: Unchecked })),
  replyCount: Unchecked,
  repostCount: Unchecked,
  likeCount: Unchecked,
  quoteCount: Unchecked,
  indexedAt: Unchecked,
});
type Post = Static<typeof Post>;

const FeedResponse = Type.Object({
  cursor: Type.Optional(Type.String()),
  feed: Type.Array(Type.Unknown()),
});

const FeedEntry = Type.Object({
  post: Post,
  reason: Type.Optional(Type.Object({ $type: Unchecked })),
});

/** Deleted posts are left out. */
const PostsResponse = Type.Object({ posts: Type.Array(Type.Unknown()) });

const REPOST_REASON = "app.bsky.feed.defs#reasonRepost";
const POST_URI_PATTERN = /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/([^/]+)$/;
const PAGE_SIZE = 100;
const PAGES_MAX = 50;

/** Finds the new posts of a user, without replies and reposts, and observes them. */
export async function* pollFeed(
  target: CollectionTarget,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const failure = explainInvalidHandle(target.id);
  if (failure !== undefined) throw new SourceError("rejected", failure);
  yield* pollNewestFirst({
    targetId: target.id,
    maxPages: PAGES_MAX,
    fetchPage: (cursor) => fetchFeedPage(target.id, cursor, context),
  });
}

async function fetchFeedPage(
  targetId: string,
  cursor: string | undefined,
  { request, now, findKnownItems }: CollectorContext,
): Promise<ListPage> {
  const response = await request({
    bucket: "general",
    path: "/xrpc/app.bsky.feed.getAuthorFeed",
    query: { actor: targetId, limit: String(PAGE_SIZE), filter: "posts_no_replies", cursor },
    schema: FeedResponse,
  });
  const observedAt = now();
  const { items: entries, warning } = parseItems("bluesky", FeedEntry, response.feed);
  const posts = entries
    .filter(({ reason }) => reason?.$type !== REPOST_REASON)
    .map(({ post }) => post);
  const knownItems = await findKnownItems(posts.map(({ uri }) => readRecordKey(uri) ?? ""));
  const readKnownState = ({ uri }: Post) => knownItems.get(readRecordKey(uri) ?? "");
  return {
    entries: posts.map((post) => readListedPost(targetId, post, readKnownState(post), observedAt)),
    warning,
    // A page of reposts alone says nothing about the pages after it.
    isKnown: posts.length > 0 && posts.every((post) => readKnownState(post) !== undefined),
    nextCursor: response.cursor,
  };
}

/** @param knownState The source state of the known item with this record key. */
function readListedPost(
  targetId: string,
  post: Post,
  knownState: SourceState | undefined,
  now: number,
): ListEntry {
  const { handle } = post.author;
  const { failure, record, item } = readPost(post, handle, now);
  const fail = (reason: string) => ({ result: { targetId, failure: reason } });
  if (failure !== undefined) return fail(failure);
  if (foldCase(handle) !== foldCase(targetId)) {
    return fail(`The post ${post.uri} must be of ${targetId}, and is of ${handle}`);
  }
  // Clients choose record keys: two users can have the same.
  if (knownState?.["uri"] !== undefined && knownState["uri"] !== post.uri) {
    return fail(`The post ${post.uri} has the record key of another, ${knownState["uri"]}`);
  }
  const result = createPollResult(targetId, record, now);
  return result.failure === undefined ? { result, item } : { result };
}

/** Observes the counts of known posts. */
export async function* pollPostCounts(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): AsyncGenerator<PollResult> {
  const uris = batch.flatMap(({ sourceState }) => sourceState["uri"] ?? []);
  const response =
    uris.length === 0
      ? { posts: [] }
      : await request({
          bucket: "general",
          path: "/xrpc/app.bsky.feed.getPosts",
          query: { uris },
          schema: PostsResponse,
        });
  const observedAt = now();
  const { items: posts, warning } = parseItems("bluesky", Post, response.posts);
  const byUri = new Map(posts.map((post) => [post.uri, post]));
  for (const { id, sourceState, owner } of batch) {
    const { uri, username = owner } = sourceState;
    const post = byUri.get(uri ?? "");
    if (uri === undefined) {
      // Found by another source, polled before this one.
      yield { targetId: id, failure: `Bluesky has no post ${id}: another source found it` };
    } else if (post === undefined) {
      yield createMissingResult(id, `Bluesky has no post ${uri}: it was deleted`, warning);
    } else {
      // A post stays with the username under which it was found, even if the handle has changed.
      const { handle } = post.author;
      const isSame = username === null || foldCase(handle) === foldCase(username);
      const { failure, record } = readPost(post, isSame ? handle : username, observedAt);
      yield failure === undefined
        ? createPollResult(id, record, observedAt)
        : { targetId: id, failure };
    }
  }
}

/** A post that can be stored, or why it cannot. */
type ParsedPost =
  | { readonly failure?: never; readonly record: ObservationRecord; readonly item: DiscoveredItem }
  | { readonly failure: string; readonly record?: never; readonly item?: never };

function readPost(post: Post, username: string, observedAt: number): ParsedPost {
  const { uri, record } = post;
  const id = readRecordKey(uri);
  if (id === undefined)
    return { failure: `A post must be at://…/app.bsky.feed.post/…, got ${uri}` };
  if (record === undefined) return { failure: `Bluesky returned no record of the post ${uri}` };
  const indexedAt = readInstant(post.indexedAt);
  if (indexedAt === undefined) return { failure: `Bluesky returned no date of the post ${uri}` };
  // The client claims `createdAt`, and can be wrong; it cannot be later than the indexing.
  const publishedAt = Math.min(readInstant(record.createdAt) ?? indexedAt, indexedAt);
  return {
    record: createObservationRecord("tweet", observedAt, {
      username,
      id,
      text: record.text,
      created_at: formatInstant(publishedAt),
      url: `https://bsky.app/profile/${username}/post/${id}`,
      likes: post.likeCount,
      retweets: post.repostCount,
      replies: post.replyCount,
      quotes: post.quoteCount,
    }),
    item: { id, publishedAt, sourceState: { uri, username } },
  };
}

function readRecordKey(uri: string): string | undefined {
  return POST_URI_PATTERN.exec(uri)?.[1];
}
