/** The shorts of YouTube: which ones a channel has, and their counts. */
import { Type, type Static } from "@sinclair/typebox";
import type { DiscoveredItem, SourceState, CollectionTarget } from "../../ports/targets.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { parseCount, readInstant, Unchecked } from "../client/responses.ts";
import { createCountedResult, createGoneResult, createObservationRecord } from "../poll-results.ts";
import { NotFoundError, type PollResult, type CollectorContext } from "../collector.ts";
import {
  parseDuration,
  parseListItems,
  findLargestThumbnail,
  ListResponse,
  Thumbnails,
} from "./responses.ts";
import { resolveChannelIds, type ChannelIds } from "./channels.ts";

const PlaylistEntry = Type.Object({
  contentDetails: Type.Object({
    videoId: Type.String({ minLength: 1 }),
    videoPublishedAt: Unchecked,
  }),
});

const Video = Type.Object({
  id: Type.String({ minLength: 1 }),
  snippet: Type.Optional(
    Type.Object({
      title: Unchecked,
      description: Unchecked,
      publishedAt: Unchecked,
      thumbnails: Thumbnails,
    }),
  ),
  contentDetails: Type.Optional(Type.Object({ duration: Unchecked })),
  statistics: Type.Optional(
    Type.Object({ viewCount: Unchecked, likeCount: Unchecked, commentCount: Unchecked }),
  ),
});

const PAGE_SIZE = 50;
const PAGES_MAX = 20;
const SHORT_MAX_SECONDS = 180;

/** A playlist that is read for new shorts. */
interface PlaylistListing {
  readonly target: CollectionTarget;
  readonly channelIds: ChannelIds;
  readonly playlistId: string;
  /** Whether it lists other videos too. */
  readonly isMixed: boolean;
  readonly context: CollectorContext;
}

/** Finds the shorts of a channel that are new: by their own playlist, else among all its videos. */
export async function* pollShorts(
  target: CollectionTarget,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const channelIds = await resolveChannelIds(target, context);
  if (channelIds === undefined) {
    yield createGoneResult(target.id, `YouTube has no channel ${target.id}`);
    return;
  }
  const playlistId = `UUSH${channelIds.channel.slice(2)}`;
  try {
    yield* pollPlaylist({ target, channelIds, playlistId, isMixed: false, context });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    yield* pollPlaylist({
      target,
      channelIds,
      playlistId: channelIds.uploads,
      isMixed: true,
      context,
    });
  }
}

/**
 * Reads a playlist, newest first, until a page is known. Its items are told at the end, together:
 * what is older than a known one is known too, also after a listing that was cut off.
 */
async function* pollPlaylist(listing: PlaylistListing): AsyncGenerator<PollResult> {
  const { target, channelIds, isMixed, context } = listing;
  // Videos that are no shorts are never known: how far they were looked at is remembered. A day is
  // looked at twice, for what was published while the list was read.
  const readTo = isMixed ? readInstant(target.sourceState["uploadsRead"]) : undefined;
  const readUntil = readTo === undefined ? -Infinity : readTo - DAY_MS;
  const items = new Map<string, DiscoveredItem>();
  const requestedIds = new Set<string>();
  let newest = readTo ?? -Infinity;
  // What could not be believed is looked at again: it is not passed over.
  let retryFrom = Infinity;
  let pageToken: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { entries, doubt: warning, nextPageToken } = await fetchPage(listing, pageToken);
    if (warning !== undefined) {
      retryFrom = -Infinity;
      yield { target: target.id, failure: warning };
    }
    const knownItems = await context.findKnownItems(entries.map(({ id }) => id));
    const newEntries = entries.filter(({ id, at }) => !knownItems.has(id) && at >= readUntil);
    const ids = newEntries.map(({ id }) => id).filter((id) => !requestedIds.has(id));
    for (const id of ids) requestedIds.add(id);
    for (const { finding, item } of await fetchNewVideos(listing, ids)) {
      if (item !== undefined) items.set(item.id, item);
      else retryFrom = Math.min(retryFrom, ...newEntries.map(({ at }) => at));
      yield finding;
    }
    for (const { id, at } of entries) {
      if (at === Infinity) continue;
      newest = Math.max(newest, at);
      const memo = knownItems.get(id);
      if (memo !== undefined) items.set(id, { id, publishedAt: at, sourceState: memo });
    }
    pageToken = nextPageToken;
    if (!pageToken || (entries.length > 0 && newEntries.length === 0)) break;
  }
  const readFrom = Math.min(newest, Math.max(retryFrom, readTo ?? -Infinity));
  const isRead = isMixed && readFrom > -Infinity;
  const memo: SourceState = isRead
    ? { ...channelIds, uploadsRead: formatInstant(readFrom) }
    : channelIds;
  yield { target: target.id, items: Array.from(items.values()), sourceState: memo };
}

async function fetchPage({ playlistId, context }: PlaylistListing, pageToken: string | undefined) {
  const response = await context.request({
    bucket: "general",
    path: "/playlistItems",
    query: {
      part: "contentDetails",
      playlistId: playlistId,
      maxResults: String(PAGE_SIZE),
      pageToken,
    },
    schema: ListResponse,
  });
  const { items, warning } = parseListItems(PlaylistEntry, response);
  const entries = items.map(({ contentDetails: { videoId, videoPublishedAt } }) => ({
    id: videoId,
    // What has no date is not passed over.
    at: readInstant(videoPublishedAt) ?? Infinity,
  }));
  return { entries, doubt: warning, nextPageToken: response.nextPageToken };
}

/** Observes videos of a listing for the first time. */
async function fetchNewVideos(
  { target, channelIds: { channel }, isMixed, context }: PlaylistListing,
  ids: readonly string[],
): Promise<{ readonly finding: PollResult; readonly item?: DiscoveredItem | undefined }[]> {
  if (ids.length === 0) return [];
  const response = await context.request({
    bucket: "general",
    path: "/videos",
    query: { part: "snippet,contentDetails,statistics", id: ids.join(",") },
    schema: ListResponse,
  });
  const now = context.now();
  const { items, warning } = parseListItems(Video, response);
  const videos = items.filter(
    ({ id, contentDetails }) => ids.includes(id) && (!isMixed || isShort(contentDetails?.duration)),
  );
  const found = videos.map((video) => {
    const { id, snippet = {} } = video;
    const finding = createVideoResult(target.id, video, now, {
      channel,
      title: snippet.title,
      description: snippet.description,
      publishedAt: snippet.publishedAt,
      thumbnail: findLargestThumbnail(snippet.thumbnails),
    });
    const publishedAt = readInstant(snippet.publishedAt);
    const isFound = finding.failure === undefined && publishedAt !== undefined;
    return { finding, item: isFound ? { id, publishedAt, sourceState: { channel } } : undefined };
  });
  const warningResult = { finding: { target: target.id, failure: warning ?? "" } };
  return warning === undefined ? found : [...found, warningResult];
}

/** Observes the counts of shorts that are known. */
export async function* pollShortCounts(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): AsyncGenerator<PollResult> {
  const response = await request({
    bucket: "stats",
    path: "/videos:batchGetStats",
    query: {
      part: "id,snippet,statistics,contentDetails",
      id: batch.map(({ id }) => id).join(","),
    },
    schema: ListResponse,
  });
  const observedAt = now();
  const { items, warning } = parseListItems(Video, response);
  const videos = new Map(items.map((video) => [video.id, video]));
  for (const { id, sourceState: memo, owner } of batch) {
    const video = videos.get(id);
    const channel = memo["channel"] ?? (owner?.startsWith("UC") === true ? owner : undefined);
    if (video === undefined && warning !== undefined) yield { target: id, failure: warning };
    else if (video === undefined) {
      yield createGoneResult(id, `YouTube has no video ${id}: it was deleted, or is private`);
    } else if (channel === undefined) {
      yield { target: id, failure: `It is not known which channel the short ${id} is of` };
    } else yield createVideoResult(id, video, observedAt, { channel });
  }
}

/** Tells of a video, its counts included. Hidden ones are absent, and nobody tells shares. */
function createVideoResult(
  target: string,
  { id, statistics = {} }: Static<typeof Video>,
  observedAt: number,
  fields: Readonly<Record<string, unknown>>,
): PollResult {
  const record = createObservationRecord("short", observedAt, {
    ...fields,
    id,
    views: parseCount(statistics.viewCount),
    likes: parseCount(statistics.likeCount),
    comments: parseCount(statistics.commentCount),
  });
  return createCountedResult(
    target,
    record,
    observedAt,
    `YouTube told no statistics of the video ${id}`,
  );
}

/** A broadcast that is yet to come has a duration of 0, and is none. */
function isShort(duration: unknown): boolean {
  const seconds = parseDuration(duration) ?? Infinity;
  return seconds > 0 && seconds <= SHORT_MAX_SECONDS;
}
