/** The channels of YouTube: what describes and counts them, and where their videos are listed. */
import { Type, type Static } from "@sinclair/typebox";
import type { CollectionTarget } from "../../ports/targets.ts";
import { parseCount, Unchecked } from "../client/responses.ts";
import {
  createCountedResult,
  createGoneResult,
  pollInBatches,
  pollOneByOne,
  createObservationRecord,
} from "../poll-results.ts";
import { parseListItems, findLargestThumbnail, ListResponse, Thumbnails } from "./responses.ts";
import {
  SourceError,
  type PollResult,
  type ObservationRecord,
  type CollectorContext,
} from "../collector.ts";

const Channel = Type.Object({
  id: Type.String({ minLength: 3 }),
  snippet: Type.Optional(
    Type.Object({
      title: Unchecked,
      description: Unchecked,
      customUrl: Unchecked,
      publishedAt: Unchecked,
      country: Unchecked,
      thumbnails: Thumbnails,
    }),
  ),
  contentDetails: Type.Optional(
    Type.Object({
      relatedPlaylists: Type.Optional(Type.Object({ uploads: Type.Optional(Type.String()) })),
    }),
  ),
  statistics: Type.Optional(
    Type.Object({
      viewCount: Unchecked,
      subscriberCount: Unchecked,
      hiddenSubscriberCount: Unchecked,
      videoCount: Unchecked,
    }),
  ),
  brandingSettings: Type.Optional(
    Type.Object({ image: Type.Optional(Type.Object({ bannerExternalUrl: Unchecked })) }),
  ),
});

/** Where the videos of a channel are listed; a target's memo. */
export type ChannelIds = {
  /** The channel's identifier, `UC…`. */
  readonly channel: string;
  /** The playlist of all its videos, `UU…`. */
  readonly uploads: string;
};

/** Observes channels: by identifier where it is known, else by handle. */
export async function* pollChannels(
  targets: readonly CollectionTarget[],
  batchSize: number,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const identified = targets.filter((target) => readChannelId(target) !== undefined);
  yield* pollInBatches(identified, batchSize, (batch) => pollById(batch, context));
  const unidentified = targets.filter((target) => readChannelId(target) === undefined);
  yield* pollOneByOne(unidentified, (target) => pollByHandle(target, context));
}

async function* pollById(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): AsyncGenerator<PollResult> {
  const ids = new Set(batch.map((target) => readChannelId(target)));
  const response = await request({
    bucket: "general",
    path: "/channels",
    query: { part: CHANNEL_PARTS, id: Array.from(ids).join(","), maxResults: String(ids.size) },
    schema: ListResponse,
  });
  const observedAt = now();
  const { items, warning } = parseListItems(Channel, response);
  const channels = new Map(items.map((channel) => [channel.id, channel]));
  for (const target of batch) {
    const id = readChannelId(target) ?? "";
    const channel = channels.get(id);
    if (channel !== undefined) yield createChannelResult(target, channel, observedAt);
    else if (warning !== undefined) yield { target: target.id, failure: warning };
    else yield createGoneResult(target.id, `YouTube has no channel ${id}`);
  }
}

async function* pollByHandle(
  target: CollectionTarget,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const channel = await fetchChannelByHandle(target.id, context);
  const observedAt = context.now();
  yield channel === undefined
    ? createGoneResult(target.id, `YouTube has no channel ${target.id}`)
    : createChannelResult(target, channel, observedAt);
}

/**
 * Where the videos of a channel are listed; its identifier is asked for where it is not known.
 *
 * @returns `undefined` where there is no such channel.
 */
export async function resolveChannelIds(
  target: CollectionTarget,
  context: CollectorContext,
): Promise<ChannelIds | undefined> {
  const channel = readChannelId(target);
  if (channel !== undefined) {
    return { channel, uploads: target.sourceState["uploads"] ?? formatUploadsId(channel) };
  }
  const found = await fetchChannelByHandle(target.id, context);
  return found === undefined ? undefined : readChannelIds(found);
}

const CHANNEL_PARTS = "snippet,statistics,contentDetails,brandingSettings";

async function fetchChannelByHandle(forHandle: string, { request }: CollectorContext) {
  const response = await request({
    bucket: "general",
    path: "/channels",
    query: { part: CHANNEL_PARTS, forHandle },
    schema: ListResponse,
  });
  const { items, warning } = parseListItems(Channel, response);
  const [channel] = items;
  if (channel === undefined && warning !== undefined) throw new SourceError("refused", warning);
  return channel;
}

function readChannelId({ id, sourceState: memo }: CollectionTarget): string | undefined {
  return memo["channel"] ?? (id.startsWith("@") ? undefined : id);
}

function readChannelIds({ id, contentDetails }: Static<typeof Channel>): ChannelIds {
  // An empty name, as `likes` has it, is none.
  const uploads = contentDetails?.relatedPlaylists?.uploads ?? "";
  return { channel: id, uploads: uploads === "" ? formatUploadsId(id) : uploads };
}

function formatUploadsId(channel: string): string {
  return `UU${channel.slice(2)}`;
}

function createChannelResult(
  { id }: CollectionTarget,
  channel: Static<typeof Channel>,
  observedAt: number,
): PollResult {
  const missingCountsReason = `YouTube told no statistics of the channel ${channel.id}`;
  return createCountedResult(
    id,
    createChannelRecord(channel, observedAt),
    observedAt,
    missingCountsReason,
    { sourceState: readChannelIds(channel) },
  );
}

function createChannelRecord(
  { id, snippet = {}, statistics = {}, brandingSettings }: Static<typeof Channel>,
  observedAt: number,
): ObservationRecord {
  const isHidden = statistics.hiddenSubscriberCount === true;
  return createObservationRecord("channel", observedAt, {
    id,
    username: readUsername(snippet.customUrl),
    displayName: snippet.title,
    description: snippet.description,
    subscribers: isHidden ? null : parseCount(statistics.subscriberCount),
    videoCount: parseCount(statistics.videoCount),
    viewCount: parseCount(statistics.viewCount),
    joinedAt: snippet.publishedAt,
    country: snippet.country,
    thumbnail: findLargestThumbnail(snippet.thumbnails),
    bannerImage: brandingSettings?.image?.bannerExternalUrl,
  });
}

function readUsername(customUrl: unknown): unknown {
  return typeof customUrl === "string" ? customUrl.replace(/^@/, "") || undefined : customUrl;
}
