/** The posts of Bluesky: the feed of a user, and the counts of posts that are known. */
import { Type, type Static } from "@sinclair/typebox";
import type { DiscoveredItem, SourceState, CollectionTarget } from "../../ports/targets.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import { parseItems, readInstant, Unchecked } from "../client/responses.ts";
import { createInvalidHandleResult, isHandle } from "./users.ts";
import { createPollResult, createGoneResult, createObservationRecord } from "../poll-results.ts";
import type { PollResult, ObservationRecord, CollectorContext } from "../collector.ts";

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

/** A post that is deleted is absent. */
const PostsResponse = Type.Object({ posts: Type.Array(Type.Unknown()) });

const REPOST_REASON = "app.bsky.feed.defs#reasonRepost";
const POST_URI_PATTERN = /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/([^/]+)$/;
const PAGE_SIZE = 100;
const PAGES_MAX = 50;

/**
 * Finds the posts of a user, newest first, until a page is known, and observes them; replies and
 * reposts are left out. Its items are told at the end, together: what is older than a known one is
 * known too, also after a listing that was cut off.
 */
export async function* pollFeed(
  target: CollectionTarget,
  { request, now, findKnownItems }: CollectorContext,
): AsyncGenerator<PollResult> {
  if (!isHandle(target.id)) {
    yield createInvalidHandleResult(target.id);
    return;
  }
  const items = new Map<string, DiscoveredItem>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const response = await request({
      bucket: "general",
      path: "/xrpc/app.bsky.feed.getAuthorFeed",
      query: {
        actor: target.id,
        limit: String(PAGE_SIZE),
        filter: "posts_no_replies",
        cursor,
      },
      schema: FeedResponse,
    });
    const observedAt = now();
    const { items: entries, warning } = parseItems("bluesky", FeedEntry, response.feed);
    if (warning !== undefined) yield { target: target.id, failure: warning };
    const posts = entries
      .filter(({ reason }) => reason?.$type !== REPOST_REASON)
      .map(({ post }) => post);
    const knownItems = await findKnownItems(posts.map(({ uri }) => readRecordKey(uri) ?? ""));
    for (const post of posts) {
      const { finding, item } = readListedPost(
        target,
        post,
        knownItems.get(readRecordKey(post.uri) ?? ""),
        observedAt,
      );
      if (item !== undefined) items.set(item.id, item);
      yield finding;
    }
    ({ cursor } = response);
    // A page of reposts alone says nothing of what comes after it.
    const isKnown =
      posts.length > 0 && posts.every(({ uri }) => knownItems.has(readRecordKey(uri) ?? ""));
    if (!cursor || isKnown) break;
  }
  yield { target: target.id, items: Array.from(items.values()) };
}

function readListedPost(
  { id: target }: CollectionTarget,
  post: Post,
  knownState: SourceState | undefined,
  now: number,
): { readonly finding: PollResult; readonly item?: DiscoveredItem } {
  const { handle } = post.author;
  const parsed = readPost(post, handle, now);
  if (typeof parsed === "string") return { finding: { target, failure: parsed } };
  if (foldCase(handle) !== foldCase(target)) {
    const failure = `The post ${post.uri} must be of ${target}, and is of ${handle}`;
    return { finding: { target, failure } };
  }
  // Record keys are chosen by clients: two users can have the same.
  if (knownState?.["uri"] !== undefined && knownState["uri"] !== post.uri) {
    const failure = `The post ${post.uri} has the record key of another, ${knownState["uri"]}`;
    return { finding: { target, failure } };
  }
  const finding = createPollResult(target, parsed.record, now);
  return finding.failure === undefined ? { finding, item: parsed.item } : { finding };
}

/** Observes posts that are known. */
export async function* pollPostCounts(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): AsyncGenerator<PollResult> {
  const uris = batch.flatMap(({ sourceState: memo }) => memo["uri"] ?? []);
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
  for (const { id, sourceState: memo, owner } of batch) {
    const { uri, username = owner } = memo;
    const post = byUri.get(uri ?? "");
    if (uri === undefined) {
      // Of a source that was asked before this one.
      yield { target: id, failure: `Bluesky never told of the post ${id}` };
    } else if (post === undefined && warning !== undefined) yield { target: id, failure: warning };
    else if (post === undefined)
      yield createGoneResult(id, `Bluesky has no post ${uri}: it was deleted`);
    else {
      // A post stays with whom it was found of, also where they have another handle by now.
      const { handle } = post.author;
      const isSame = username === null || foldCase(handle) === foldCase(username);
      const parsed = readPost(post, isSame ? handle : username, observedAt);
      yield typeof parsed === "string"
        ? { target: id, failure: parsed }
        : createPollResult(id, parsed.record, observedAt);
    }
  }
}

/** Reads a post. @returns Why it cannot be believed, where it can't. */
function readPost(
  post: Post,
  username: string,
  observedAt: number,
): { readonly record: ObservationRecord; readonly item: DiscoveredItem } | string {
  const { uri, record } = post;
  const id = readRecordKey(uri);
  if (id === undefined) return `A post must be at://…/app.bsky.feed.post/…, got ${uri}`;
  if (record === undefined) return `Bluesky told no record of the post ${uri}`;
  const indexedAt = readInstant(post.indexedAt);
  if (indexedAt === undefined) return `Bluesky told not when the post ${uri} was indexed`;
  // What the client claims can be wrong; it was not made after it was indexed.
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
