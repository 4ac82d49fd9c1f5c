/** Polls YouTube shorts: finds the new shorts of a channel, and observes counts of known shorts. */
import { Type, type Static } from "@sinclair/typebox";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { parseCount, readInstant, Unchecked, UncheckedFields } from "../client/responses.ts";
import {
  isNotFound,
  type CollectorContext,
  type PollResult,
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
import { resolveChannelIds } from "./channels.ts";
import { fetchList, findLargestThumbnail, Thumbnails } from "./responses.ts";

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
  contentDetails: UncheckedFields,
  statistics: UncheckedFields,
});

const PAGE_SIZE = 50;
const PAGES_MAX = 20;
const SHORT_MAX_SECONDS = 180;

interface Playlist {
  readonly target: CollectionTarget;
  readonly channelIds: Awaited<ReturnType<typeof resolveChannelIds>>;
  /** Whether the playlist has all videos of the channel, and not only shorts. */
  readonly isMixed: boolean;
}

/** Finds the new shorts of a channel: in its playlist of shorts, else among all its videos. */
async function* pollShorts(target: CollectionTarget, context: CollectorContext) {
  const channelIds = await resolveChannelIds(target, context);
  try {
    yield* pollPlaylist({ target, channelIds, isMixed: false }, context);
  } catch (error) {
    // The playlist of shorts is undocumented, and some channels don't have it.
    if (!isNotFound(error)) throw error;
    yield* pollPlaylist({ target, channelIds, isMixed: true }, context);
  }
}

async function* pollPlaylist(playlist: Playlist, context: CollectorContext) {
  const { target, channelIds, isMixed } = playlist;
  // Videos that are not shorts never become known items. So the source state keeps the date up to
  // which a mixed playlist was read; the day before it is read again, for videos added meanwhile.
  const readTo = isMixed ? readInstant(target.sourceState["uploadsReadTo"]) : undefined;
  const readUntil = readTo === undefined ? -Infinity : readTo - DAY_MS;
  const requestedIds = new Set<string>();
  let newest = readTo ?? -Infinity;
  // Invalid entries are read again the next time.
  let retryFrom = Infinity;

  async function fetchPage(cursor: string | undefined) {
    const { entries, warning, nextCursor } = await fetchEntries(playlist, cursor, context);
    if (warning !== undefined) retryFrom = -Infinity;
    const knownItems = await context.findKnownItems(entries.map(({ id }) => id));
    const newEntries = entries.filter(({ id, at }) => !knownItems.has(id) && at >= readUntil);
    const ids = newEntries.map(({ id }) => id).filter((id) => !requestedIds.has(id));
    for (const id of ids) requestedIds.add(id);
    const videos = await fetchVideos(playlist, ids, context);
    if (videos.some(({ items = [] }) => items.length === 0))
      retryFrom = Math.min(retryFrom, ...newEntries.map(({ at }) => at));
    const dated = entries.filter(({ at }) => at !== Infinity);
    newest = Math.max(newest, ...dated.map(({ at }) => at));
    const items = dated.flatMap(({ id, at }) => {
      const known = knownItems.get(id);
      return known === undefined ? [] : [{ id, publishedAt: at, sourceState: known.sourceState }];
    });
    return {
      results: [...videos, { targetId: target.id, items }],
      warning,
      isKnown: entries.length > 0 && newEntries.length === 0,
      nextCursor,
    };
  }

  yield* pollNewestFirst(target.id, PAGES_MAX, fetchPage);
  const readFrom = Math.min(newest, Math.max(retryFrom, readTo ?? -Infinity));
  const sourceState =
    isMixed && readFrom !== -Infinity
      ? { ...channelIds, uploadsReadTo: formatInstant(readFrom) }
      : channelIds;
  yield { targetId: target.id, sourceState };
}

async function fetchEntries(
  { channelIds: { channel, uploads }, isMixed }: Playlist,
  pageToken: string | undefined,
  context: CollectorContext,
) {
  const playlistId = isMixed ? uploads : `UUSH${channel.slice(2)}`;
  const { items, warning, nextPageToken } = await fetchList(context, PlaylistEntry, {
    path: "/playlistItems",
    query: { part: "contentDetails", playlistId, maxResults: String(PAGE_SIZE), pageToken },
  });
  const entries = items.map(({ contentDetails: { videoId, videoPublishedAt } }) => ({
    id: videoId,
    // An entry without a date counts as new.
    at: readInstant(videoPublishedAt) ?? Infinity,
  }));
  return { entries, warning, nextCursor: nextPageToken };
}

/** Observes the videos of a page that are shorts. An invalid short has no item. */
async function fetchVideos(
  { target, channelIds: { channel }, isMixed }: Playlist,
  ids: readonly string[],
  context: CollectorContext,
): Promise<PollResult[]> {
  if (ids.length === 0) return [];
  const { items: videos, warning } = await fetchList(context, Video, {
    path: "/videos",
    query: { part: "snippet,contentDetails,statistics", id: ids.join(",") },
  });
  const shorts = videos
    .filter(({ id }) => ids.includes(id))
    .filter(({ contentDetails }) => !isMixed || isShort(contentDetails?.["duration"]));
  const results = shorts.map((video) =>
    createPollResult(target.id, () => {
      const { id, snippet = {} } = video;
      const { title, description, publishedAt } = snippet;
      const thumbnail = findLargestThumbnail(snippet.thumbnails);
      const attributes = { channel, title, description, publishedAt, thumbnail };
      const observed = observeVideo(context, video, attributes);
      const at = readInstant(publishedAt);
      const items = at === undefined ? [] : [{ id, publishedAt: at, sourceState: { channel } }];
      return { ...observed, items };
    }),
  );
  if (warning !== undefined) results.push({ targetId: target.id, failure: warning });
  return results;
}

const pollShortCounts: PollBatch = async (batch, context) => {
  const ids = batch.map(({ id }) => id).join(",");
  const { items, warning } = await fetchList(context, Video, {
    path: "/videos:batchGetStats",
    query: { part: "id,snippet,statistics,contentDetails", id: ids },
  });
  const videos = new Map(items.map((video) => [video.id, video]));
  return ({ id, sourceState, owner }) => {
    const goneReason = `YouTube has no video ${id}: it was deleted, or is private`;
    const video = videos.get(id) ?? throwMissing(goneReason, warning);
    const { channel = owner } = sourceState;
    if (channel === null || channel.startsWith("@"))
      throwFailure(`The channel of the short ${id} is unknown`);
    return observeVideo(context, video, { channel });
  };
};

/** Hidden counts are absent, and YouTube has no count of shares. */
function observeVideo(
  context: CollectorContext,
  { id, statistics = {} }: Static<typeof Video>,
  attributes: object,
) {
  const fields = {
    ...attributes,
    id,
    views: parseCount(statistics["viewCount"]),
    likes: parseCount(statistics["likeCount"]),
    comments: parseCount(statistics["commentCount"]),
  };
  const missingCountsReason = `YouTube returned no statistics of the video ${id}`;
  return observe(context, "short", fields, missingCountsReason);
}

/** A scheduled broadcast has a duration of 0, and is no short. */
function isShort(duration: unknown): boolean {
  const seconds = typeof duration === "string" ? parseSeconds(duration) : Number.NaN;
  return seconds > 0 && seconds <= SHORT_MAX_SECONDS;
}

/** Parses a duration, in ISO 8601 or in seconds: `PT2M5S`, `37s`; `NaN` for an invalid one. */
function parseSeconds(text: string): number {
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds);
  try {
    return Temporal.Duration.from(text).total("seconds");
  } catch {
    return Number.NaN;
  }
}

export const SHORT_TASKS = {
  items: createListTask("general", pollShorts),
  counts: createBatchTask("stats", PAGE_SIZE, pollShortCounts),
};
