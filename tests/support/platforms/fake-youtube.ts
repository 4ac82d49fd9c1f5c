/** A fake of the YouTube Data API v3. */
import { openFakeServer, type FakeServerOptions } from "./fake-server.ts";
import type { FakeResponse, FakeRequest } from "./faults.ts";
import { countsOfChannel, countsOfVideo } from "./world-counts.ts";
import { countUntil, isPresent, type WorldChannel, type WorldVideo, type World } from "./world.ts";

const BATCH_MAX = 50;
const BATCH_STATS = "/videos:batchGetStats";

/** Returns an error of YouTube. */
export function createYoutubeError(
  status: number,
  reason: string,
  domain = "youtube",
): FakeResponse {
  const message = `The request cannot be completed: ${reason}.`;
  const errors = [{ message, domain, reason }];
  return { status, body: { error: { code: status, message, errors } } };
}

export const QUOTA_EXCEEDED = createYoutubeError(403, "quotaExceeded", "youtube.quota");

export const KEY_REFUSED = createYoutubeError(403, "forbidden");

/** The options of the fake. */
export interface FakeYoutubeOptions extends FakeServerOptions {
  readonly world: World;
  readonly apiKey: string;
  /** Units a day, 10,000 by default. */
  readonly generalUnits?: number;
  readonly statsUnits?: number;
}

/** Opens the fake; its buckets are `general` and `stats`. */
export function openFakeYoutube(options: FakeYoutubeOptions) {
  const { world, apiKey, generalUnits = 10_000, statsUnits = 10_000, now } = options;

  const answer = (request: FakeRequest, used: number): FakeResponse => {
    const { path, query } = request;
    if (query.get("key") !== apiKey) return KEY_REFUSED;
    if (used > (path === BATCH_STATS ? statsUnits : generalUnits)) return QUOTA_EXCEEDED;
    const parts = new Set(query.get("part")?.split(",") ?? []);
    if (parts.size === 0) return createYoutubeError(400, "missingRequiredParameter");
    if (path === "/channels") return answerChannels(query, parts);
    if (path === "/playlistItems") return answerPlaylist(query, parts);
    if (path === "/videos" || path === BATCH_STATS) return answerVideos(path, query, parts);
    return createYoutubeError(404, "notFound");
  };

  const answerChannels = (query: URLSearchParams, parts: ReadonlySet<string>): FakeResponse => {
    const handle = query.get("forHandle");
    const ids = handle === null ? readIds(query) : [];
    if (ids === undefined) return createYoutubeError(400, "invalidParameter");
    const found =
      handle === null
        ? ids.map((id) => world.channelById.get(id))
        : [world.channelByHandle(handle.replace(/^@/, ""))];
    const at = now();
    const present = found.filter((channel) => channel !== undefined && isPresent(channel, at));
    const items = present.flatMap((channel) =>
      channel === undefined ? [] : [pickParts(writeChannel(channel, at), parts)],
    );
    const pageInfo = { totalResults: items.length, resultsPerPage: 5 };
    return { status: 200, body: items.length === 0 ? { pageInfo } : { pageInfo, items } };
  };

  const answerPlaylist = (query: URLSearchParams, parts: ReadonlySet<string>): FakeResponse => {
    const id = query.get("playlistId") ?? "";
    const channel = world.channelById.get(`UC${id.replace(/^UU(SH)?/, "")}`);
    const isOfShorts = id.startsWith("UUSH");
    const at = now();
    if (channel === undefined || !isPresent(channel, at)) return PLAYLIST_NOT_FOUND;
    if (isOfShorts && !channel.hasShortsList) return PLAYLIST_NOT_FOUND;
    const size = Number(query.get("maxResults") ?? 5);
    if (!(size >= 0 && size <= BATCH_MAX)) return createYoutubeError(400, "invalidParameter");
    const from = readToken(query.get("pageToken"));
    if (from === undefined) return createYoutubeError(400, "invalidPageToken");
    return { status: 200, body: writePlaylist({ channel, isOfShorts, from, size, at, parts }) };
  };

  const answerVideos = (
    path: string,
    query: URLSearchParams,
    parts: ReadonlySet<string>,
  ): FakeResponse => {
    const ids = readIds(query);
    if (ids === undefined) return createYoutubeError(400, "invalidParameter");
    const at = now();
    const items: unknown[] = [];
    for (const id of ids) {
      const video = world.videoById.get(id);
      if (video === undefined || !isPresent(video, at) || !isPresent(video.channel, at)) continue;
      items.push(
        pickParts(path === BATCH_STATS ? writeStats(video, at) : writeVideo(video, at), parts),
      );
    }
    return { status: 200, body: { items, pageInfo: { totalResults: items.length } } };
  };

  const api = {
    prefix: "/youtube/v3",
    zone: "America/Los_Angeles",
    bucketOf: (path: string) => (path === BATCH_STATS ? "stats" : "general"),
    answer,
  } as const;
  return openFakeServer(api, options);
}

const PLAYLIST_NOT_FOUND = createYoutubeError(404, "playlistNotFound", "youtube.playlistItem");

/** Returns the identifiers of a request; `undefined` for none or too many. */
function readIds(query: URLSearchParams): string[] | undefined {
  const ids = query.get("id")?.split(",") ?? [];
  return ids.length === 0 || ids.length > BATCH_MAX ? undefined : ids;
}

/** Returns where a page begins, counted from the newest item: new items shift the pages. */
function readToken(token: string | null): number | undefined {
  if (token === null || token === "") return 0;
  const from = /^PT:(\d+)$/.exec(Buffer.from(token, "base64url").toString())?.[1];
  return from === undefined ? undefined : Number(from);
}

function writePlaylist(page: {
  channel: WorldChannel;
  isOfShorts: boolean;
  from: number;
  size: number;
  at: number;
  parts: ReadonlySet<string>;
}) {
  const { channel, isOfShorts, from, size, at, parts } = page;
  const all = isOfShorts ? channel.shorts : channel.uploads;
  const count = countUntil(all, at);
  const items = all
    .slice(Math.max(0, count - from - size), Math.max(0, count - from))
    .toReversed()
    .filter((video) => isPresent(video, at))
    .map((video) =>
      pickParts(
        {
          contentDetails: { videoId: video.id, videoPublishedAt: writeInstant(video.publishedAt) },
          snippet: { title: video.title, publishedAt: writeInstant(video.publishedAt) },
        },
        parts,
      ),
    );
  const next = Buffer.from(`PT:${from + size}`).toString("base64url");
  return {
    ...(from + size < count ? { nextPageToken: next } : {}),
    pageInfo: { totalResults: count, resultsPerPage: size },
    items,
  };
}

function writeChannel(channel: WorldChannel, at: number) {
  const { subscribers, videoCount, viewCount } = countsOfChannel(channel, at);
  const place = Number(channel.handle.replace(/\D/g, ""));
  return {
    id: channel.id,
    snippet: {
      title: channel.title,
      description: `All about ${channel.title}`,
      ...(place % 7 === 5 ? {} : { customUrl: `@${channel.handle}` }),
      publishedAt: writeInstant(channel.joinedAt),
      ...(place % 3 === 1 ? {} : { country: "US" }),
      thumbnails: writeThumbnails(channel.id),
    },
    contentDetails: {
      relatedPlaylists: { likes: "", uploads: `UU${channel.id.slice(2)}` },
    },
    statistics: {
      viewCount: String(viewCount),
      ...(subscribers === null ? {} : { subscriberCount: String(subscribers) }),
      hiddenSubscriberCount: subscribers === null,
      videoCount: String(videoCount),
    },
    ...(place % 4 === 2
      ? { brandingSettings: { channel: { title: channel.title } } }
      : { brandingSettings: { image: { bannerExternalUrl: `https://banner.test/${place}` } } }),
  };
}

function writeVideo(video: WorldVideo, at: number) {
  return {
    id: video.id,
    snippet: {
      publishedAt: writeInstant(video.publishedAt),
      channelId: video.channel.id,
      channelTitle: video.channel.title,
      title: video.title,
      description: "",
      thumbnails: writeThumbnails(video.id),
    },
    contentDetails: { duration: writeDuration(video.durationS) },
    statistics: writeStatistics(video, at),
  };
}

function writeStats(video: WorldVideo, at: number) {
  return {
    id: video.id,
    snippet: { publishTime: writeInstant(video.publishedAt) },
    statistics: writeStatistics(video, at),
    contentDetails: { duration: `${video.durationS}s` },
  };
}

function writeStatistics(video: WorldVideo, at: number) {
  const { views, likes, comments } = countsOfVideo(video, at);
  return {
    viewCount: String(views),
    ...(likes === null ? {} : { likeCount: String(likes) }),
    ...(comments === null ? {} : { commentCount: String(comments) }),
  };
}

function writeThumbnails(id: string) {
  const thumbnail = (size: string) => ({ url: `https://thumbnail.test/${id}/${size}.jpg` });
  return { default: thumbnail("default"), medium: thumbnail("medium"), high: thumbnail("high") };
}

/** `PT37S`, `PT3M`, `PT1H1S`. */
function writeDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  return `PT${hours > 0 ? `${hours}H` : ""}${minutes > 0 ? `${minutes}M` : ""}${
    rest > 0 || seconds === 0 ? `${rest}S` : ""
  }`;
}

function writeInstant(instant: number): string {
  return new Date(instant).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Returns the identifier of a resource with its requested parts. */
function pickParts(resource: Readonly<Record<string, unknown>>, parts: ReadonlySet<string>) {
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => name === "id" || parts.has(name)),
  );
}
