/** The shorts of YouTube: which ones a channel has, and their counts. */
import { Type, type Static } from "@sinclair/typebox";
import type { FoundItem, Memo, Target } from "../../core/collection.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { countOf, instantOf, Told } from "./answers.ts";
import { countedOf, goneOf, recordOf } from "./findings.ts";
import { NotThere, type Finding, type Surroundings } from "./port.ts";
import { durationOf, itemsOf, largestThumbnail, List, Thumbnails } from "./youtube-answers.ts";
import { placeOf, type Place } from "./youtube-channels.ts";

const Entry = Type.Object({
  contentDetails: Type.Object({
    videoId: Type.String({ minLength: 1 }),
    videoPublishedAt: Told,
  }),
});

const Video = Type.Object({
  id: Type.String({ minLength: 1 }),
  snippet: Type.Optional(
    Type.Object({ title: Told, description: Told, publishedAt: Told, thumbnails: Thumbnails }),
  ),
  contentDetails: Type.Optional(Type.Object({ duration: Told })),
  statistics: Type.Optional(Type.Object({ viewCount: Told, likeCount: Told, commentCount: Told })),
});

const PAGE_SIZE = 50;
const PAGES_MAX = 20;
const SHORT_MAX_S = 180;

/** A playlist that is read for new shorts. */
interface Listing {
  readonly target: Target;
  readonly place: Place;
  readonly playlist: string;
  /** Whether it lists other videos too. */
  readonly isMixed: boolean;
  readonly surroundings: Surroundings;
}

/** Finds the shorts of a channel that are new: by their own playlist, else among all its videos. */
export async function* shortsOf(
  target: Target,
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const place = await placeOf(target, surroundings);
  if (place === undefined) {
    yield goneOf(target.id, `YouTube has no channel ${target.id}`);
    return;
  }
  const playlist = `UUSH${place.channel.slice(2)}`;
  try {
    yield* listed({ target, place, playlist, isMixed: false, surroundings });
  } catch (error) {
    if (!(error instanceof NotThere)) throw error;
    yield* listed({ target, place, playlist: place.uploads, isMixed: true, surroundings });
  }
}

/**
 * Reads a playlist, newest first, until a page is known. Its items are told at the end, together:
 * what is older than a known one is known too, also after a listing that was cut off.
 */
async function* listed(listing: Listing): AsyncGenerator<Finding> {
  const { target, place, isMixed, surroundings } = listing;
  // Videos that are no shorts are never known: how far they were looked at is remembered. A day is
  // looked at twice, for what was published while the list was read.
  const readTo = isMixed ? instantOf(target.memo["uploadsRead"]) : undefined;
  const readUntil = readTo === undefined ? -Infinity : readTo - DAY_MS;
  const items = new Map<string, FoundItem>();
  const asked = new Set<string>();
  let newest = readTo ?? -Infinity;
  // What could not be believed is looked at again: it is not passed over.
  let unsureFrom = Infinity;
  let pageToken: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { entries, doubt, next } = await readPage(listing, pageToken);
    if (doubt !== undefined) {
      unsureFrom = -Infinity;
      yield { target: target.id, failure: doubt };
    }
    const known = await surroundings.knownOf(entries.map(({ id }) => id));
    const fresh = entries.filter(({ id, at }) => !known.has(id) && at >= readUntil);
    const ids = fresh.map(({ id }) => id).filter((id) => !asked.has(id));
    for (const id of ids) asked.add(id);
    for (const { finding, item } of await describe(listing, ids)) {
      if (item !== undefined) items.set(item.id, item);
      else unsureFrom = Math.min(unsureFrom, ...fresh.map(({ at }) => at));
      yield finding;
    }
    for (const { id, at } of entries) {
      if (at === Infinity) continue;
      newest = Math.max(newest, at);
      const memo = known.get(id);
      if (memo !== undefined) items.set(id, { id, publishedAt: at, memo });
    }
    pageToken = next;
    if (!pageToken || (entries.length > 0 && fresh.length === 0)) break;
  }
  const readFrom = Math.min(newest, Math.max(unsureFrom, readTo ?? -Infinity));
  const isRead = isMixed && readFrom > -Infinity;
  const memo: Memo = isRead ? { ...place, uploadsRead: formatInstant(readFrom) } : place;
  yield { target: target.id, items: Array.from(items.values()), memo };
}

async function readPage({ playlist, surroundings }: Listing, pageToken: string | undefined) {
  const answer = await surroundings.ask({
    bucket: "general",
    path: "/playlistItems",
    query: {
      part: "contentDetails",
      playlistId: playlist,
      maxResults: String(PAGE_SIZE),
      pageToken,
    },
    schema: List,
  });
  const { items, doubt } = itemsOf(Entry, answer);
  const entries = items.map(({ contentDetails: { videoId, videoPublishedAt } }) => ({
    id: videoId,
    // What has no date is not passed over.
    at: instantOf(videoPublishedAt) ?? Infinity,
  }));
  return { entries, doubt, next: answer.nextPageToken };
}

/** Observes videos of a listing for the first time. */
async function describe(
  { target, place: { channel }, isMixed, surroundings }: Listing,
  ids: readonly string[],
): Promise<{ readonly finding: Finding; readonly item?: FoundItem | undefined }[]> {
  if (ids.length === 0) return [];
  const answer = await surroundings.ask({
    bucket: "general",
    path: "/videos",
    query: { part: "snippet,contentDetails,statistics", id: ids.join(",") },
    schema: List,
  });
  const now = surroundings.now();
  const { items, doubt } = itemsOf(Video, answer);
  const videos = items.filter(
    ({ id, contentDetails }) => ids.includes(id) && (!isMixed || isShort(contentDetails?.duration)),
  );
  const found = videos.map((video) => {
    const { id, snippet = {} } = video;
    const finding = tell(target.id, video, now, {
      channel,
      title: snippet.title,
      description: snippet.description,
      publishedAt: snippet.publishedAt,
      thumbnail: largestThumbnail(snippet.thumbnails),
    });
    const publishedAt = instantOf(snippet.publishedAt);
    const isFound = finding.failure === undefined && publishedAt !== undefined;
    return { finding, item: isFound ? { id, publishedAt, memo: { channel } } : undefined };
  });
  const doubtful = { finding: { target: target.id, failure: doubt ?? "" } };
  return doubt === undefined ? found : [...found, doubtful];
}

/** Observes the counts of shorts that are known. */
export async function* countsOf(
  batch: readonly Target[],
  { ask, now }: Surroundings,
): AsyncGenerator<Finding> {
  const answer = await ask({
    bucket: "stats",
    path: "/videos:batchGetStats",
    query: {
      part: "id,snippet,statistics,contentDetails",
      id: batch.map(({ id }) => id).join(","),
    },
    schema: List,
  });
  const at = now();
  const { items, doubt } = itemsOf(Video, answer);
  const videos = new Map(items.map((video) => [video.id, video]));
  for (const { id, memo, owner } of batch) {
    const video = videos.get(id);
    const channel = memo["channel"] ?? (owner?.startsWith("UC") === true ? owner : undefined);
    if (video === undefined && doubt !== undefined) yield { target: id, failure: doubt };
    else if (video === undefined) {
      yield goneOf(id, `YouTube has no video ${id}: it was deleted, or is private`);
    } else if (channel === undefined) {
      yield { target: id, failure: `It is not known which channel the short ${id} is of` };
    } else yield tell(id, video, at, { channel });
  }
}

/** Tells of a video, its counts included. Hidden ones are absent, and nobody tells shares. */
function tell(
  target: string,
  { id, statistics = {} }: Static<typeof Video>,
  at: number,
  described: Readonly<Record<string, unknown>>,
): Finding {
  const record = recordOf("short", at, {
    ...described,
    id,
    views: countOf(statistics.viewCount),
    likes: countOf(statistics.likeCount),
    comments: countOf(statistics.commentCount),
  });
  return countedOf(target, record, at, `YouTube told no statistics of the video ${id}`);
}

/** A broadcast that is yet to come has a duration of 0, and is none. */
function isShort(duration: unknown): boolean {
  const seconds = durationOf(duration) ?? Infinity;
  return seconds > 0 && seconds <= SHORT_MAX_S;
}
