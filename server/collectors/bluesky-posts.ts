/** The posts of Bluesky: the feed of a user, and the counts of posts that are known. */
import { Type, type Static } from "@sinclair/typebox";
import type { FoundItem, Memo, Target } from "../../core/collection.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant } from "../../core/time.ts";
import { believe, instantOf, Told } from "./answers.ts";
import { impossible, isHandle } from "./bluesky-users.ts";
import { findingOf, goneOf, recordOf } from "./findings.ts";
import type { Finding, ObservationRecord, Surroundings } from "./port.ts";

const Post = Type.Object({
  uri: Type.String(),
  author: Type.Object({ handle: Type.String() }),
  record: Type.Optional(Type.Object({ text: Told, createdAt: Told })),
  replyCount: Told,
  repostCount: Told,
  likeCount: Told,
  quoteCount: Told,
  indexedAt: Told,
});
type Post = Static<typeof Post>;

const Feed = Type.Object({
  cursor: Type.Optional(Type.String()),
  feed: Type.Array(Type.Unknown()),
});

const Entry = Type.Object({
  post: Post,
  reason: Type.Optional(Type.Object({ $type: Told })),
});

/** A post that is deleted is absent. */
const Posts = Type.Object({ posts: Type.Array(Type.Unknown()) });

const REPOST = "app.bsky.feed.defs#reasonRepost";
const URI_PATTERN = /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/([^/]+)$/;
const PAGE_SIZE = 100;
const PAGES_MAX = 50;

/**
 * Finds the posts of a user, newest first, until a page is known, and observes them; replies and
 * reposts are left out. Its items are told at the end, together: what is older than a known one is
 * known too, also after a listing that was cut off.
 */
export async function* feedOf(
  target: Target,
  { ask, now, knownOf }: Surroundings,
): AsyncGenerator<Finding> {
  if (!isHandle(target.id)) {
    yield impossible(target.id);
    return;
  }
  const items = new Map<string, FoundItem>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await ask({
      bucket: "general",
      path: "/xrpc/app.bsky.feed.getAuthorFeed",
      query: {
        actor: target.id,
        limit: String(PAGE_SIZE),
        filter: "posts_no_replies",
        cursor,
      },
      schema: Feed,
    });
    const at = now();
    const { items: entries, doubt } = believe("bluesky", Entry, answer.feed);
    if (doubt !== undefined) yield { target: target.id, failure: doubt };
    const posts = entries.filter(({ reason }) => reason?.$type !== REPOST).map(({ post }) => post);
    const known = await knownOf(posts.map(({ uri }) => keyOf(uri) ?? ""));
    for (const post of posts) {
      const { finding, item } = tell(target, post, known.get(keyOf(post.uri) ?? ""), at);
      if (item !== undefined) items.set(item.id, item);
      yield finding;
    }
    ({ cursor } = answer);
    // A page of reposts alone says nothing of what comes after it.
    const isKnown = posts.length > 0 && posts.every(({ uri }) => known.has(keyOf(uri) ?? ""));
    if (!cursor || isKnown) break;
  }
  yield { target: target.id, items: Array.from(items.values()) };
}

function tell(
  { id: target }: Target,
  post: Post,
  known: Memo | undefined,
  now: number,
): { readonly finding: Finding; readonly item?: FoundItem } {
  const { handle } = post.author;
  const read = readPost(post, handle, now);
  if (typeof read === "string") return { finding: { target, failure: read } };
  if (foldCase(handle) !== foldCase(target)) {
    const failure = `The post ${post.uri} must be of ${target}, and is of ${handle}`;
    return { finding: { target, failure } };
  }
  // Record keys are chosen by clients: two users can have the same.
  if (known?.["uri"] !== undefined && known["uri"] !== post.uri) {
    const failure = `The post ${post.uri} has the record key of another, ${known["uri"]}`;
    return { finding: { target, failure } };
  }
  const finding = findingOf(target, read.record, now);
  return finding.failure === undefined ? { finding, item: read.item } : { finding };
}

/** Observes posts that are known. */
export async function* postsOf(
  batch: readonly Target[],
  { ask, now }: Surroundings,
): AsyncGenerator<Finding> {
  const uris = batch.flatMap(({ memo }) => memo["uri"] ?? []);
  const answer =
    uris.length === 0
      ? { posts: [] }
      : await ask({
          bucket: "general",
          path: "/xrpc/app.bsky.feed.getPosts",
          query: { uris },
          schema: Posts,
        });
  const at = now();
  const { items: posts, doubt } = believe("bluesky", Post, answer.posts);
  const byUri = new Map(posts.map((post) => [post.uri, post]));
  for (const { id, memo, owner } of batch) {
    const { uri, username = owner } = memo;
    const post = byUri.get(uri ?? "");
    if (uri === undefined) {
      // Of a source that was asked before this one.
      yield { target: id, failure: `Bluesky never told of the post ${id}` };
    } else if (post === undefined && doubt !== undefined) yield { target: id, failure: doubt };
    else if (post === undefined) yield goneOf(id, `Bluesky has no post ${uri}: it was deleted`);
    else {
      // A post stays with whom it was found of, also where they have another handle by now.
      const { handle } = post.author;
      const isSame = username === null || foldCase(handle) === foldCase(username);
      const read = readPost(post, isSame ? handle : username, at);
      yield typeof read === "string"
        ? { target: id, failure: read }
        : findingOf(id, read.record, at);
    }
  }
}

/** Reads a post. @returns Why it cannot be believed, where it can't. */
function readPost(
  post: Post,
  username: string,
  at: number,
): { readonly record: ObservationRecord; readonly item: FoundItem } | string {
  const { uri, record } = post;
  const id = keyOf(uri);
  if (id === undefined) return `A post must be at://…/app.bsky.feed.post/…, got ${uri}`;
  if (record === undefined) return `Bluesky told no record of the post ${uri}`;
  const indexedAt = instantOf(post.indexedAt);
  if (indexedAt === undefined) return `Bluesky told not when the post ${uri} was indexed`;
  // What the client claims can be wrong; it was not made after it was indexed.
  const publishedAt = Math.min(instantOf(record.createdAt) ?? indexedAt, indexedAt);
  return {
    record: recordOf("tweet", at, {
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
    item: { id, publishedAt, memo: { uri, username } },
  };
}

function keyOf(uri: string): string | undefined {
  return URI_PATTERN.exec(uri)?.[1];
}
