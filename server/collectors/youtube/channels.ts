/** Polls YouTube channels: their description, their counts, and where their videos are listed. */
import { Type, type Static } from "@sinclair/typebox";
import { parseCount, Unchecked, UncheckedFields } from "../client/responses.ts";
import {
  SourceError,
  type CollectorContext,
  type PollBatch,
  type PollResult,
} from "../collector.ts";
import type { CollectionTarget } from "../targets.ts";
import { pollBatch, pollOneByOne } from "../poll-tasks.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import { fetchList, findLargestThumbnail, Thumbnails } from "./responses.ts";

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
  statistics: UncheckedFields,
  brandingSettings: Type.Optional(Type.Object({ image: UncheckedFields })),
});
type Channel = Static<typeof Channel>;

/** Where the videos of a channel are listed; the source state of a target. */
type ChannelIds = {
  /** The channel's identifier, `UC…`. */
  readonly channel: string;
  /** The playlist of all its videos, `UU…`. */
  readonly uploads: string;
};

/** Observes channels: those with a known identifier in one request, the others by handle. */
export async function* pollChannels(
  targets: readonly CollectionTarget[],
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const identified = targets.filter((target) => readChannelId(target) !== undefined);
  yield* pollBatch(identified, context, pollById);
  const unidentified = targets.filter((target) => readChannelId(target) === undefined);
  yield* pollOneByOne(unidentified, async function* (target) {
    const channel = await fetchChannelByHandle(target.id, context);
    yield createChannelResult(context, target, channel);
  });
}

const pollById: PollBatch = async (batch, context) => {
  const ids = new Set(batch.map((target) => readChannelId(target)));
  const query = { id: Array.from(ids).join(","), maxResults: String(ids.size) };
  const { items, warning } = await fetchChannels(query, context);
  const channels = new Map(items.map((channel) => [channel.id, channel]));
  return batch.map((target) => {
    const id = readChannelId(target) ?? "";
    const channel = channels.get(id);
    return channel === undefined
      ? createGoneResult(target.id, `YouTube has no channel ${id}`, warning)
      : createChannelResult(context, target, channel);
  });
};

/**
 * Returns where the videos of a channel are listed, from the source state or from a request.
 *
 * @throws {SourceError} `not-found`: there is no such channel.
 */
export async function resolveChannelIds(
  target: CollectionTarget,
  context: CollectorContext,
): Promise<ChannelIds> {
  const channel = readChannelId(target);
  if (channel === undefined) return readChannelIds(await fetchChannelByHandle(target.id, context));
  return { channel, uploads: target.sourceState["uploads"] ?? formatUploadsId(channel) };
}

function fetchChannels(query: Readonly<Record<string, string>>, context: CollectorContext) {
  return fetchList(context, Channel, {
    bucket: "general",
    path: "/channels",
    query: { part: "snippet,statistics,contentDetails,brandingSettings", ...query },
  });
}

async function fetchChannelByHandle(handle: string, context: CollectorContext): Promise<Channel> {
  const { items, warning } = await fetchChannels({ forHandle: handle }, context);
  const [channel] = items;
  if (channel !== undefined) return channel;
  if (warning !== undefined) throw new SourceError("rejected", warning);
  throw new SourceError("not-found", `YouTube has no channel ${handle}`);
}

const readChannelId = ({ id, sourceState }: CollectionTarget) =>
  sourceState["channel"] ?? (id.startsWith("@") ? undefined : id);

const readChannelIds = ({ id, contentDetails }: Channel): ChannelIds => ({
  channel: id,
  // YouTube writes a missing playlist as an empty name.
  uploads: contentDetails?.relatedPlaylists?.uploads || formatUploadsId(id),
});

const formatUploadsId = (channel: string) => `UU${channel.slice(2)}`;

function createChannelResult(
  context: CollectorContext,
  target: CollectionTarget,
  channel: Channel,
) {
  const { id, snippet = {}, statistics = {}, brandingSettings } = channel;
  const { customUrl } = snippet;
  const isHidden = statistics["hiddenSubscriberCount"] === true;
  const fields = {
    id,
    username: typeof customUrl === "string" ? customUrl.replace(/^@/, "") || undefined : customUrl,
    displayName: snippet.title,
    description: snippet.description,
    subscribers: isHidden ? null : parseCount(statistics["subscriberCount"]),
    videoCount: parseCount(statistics["videoCount"]),
    viewCount: parseCount(statistics["viewCount"]),
    joinedAt: snippet.publishedAt,
    country: snippet.country,
    thumbnail: findLargestThumbnail(snippet.thumbnails),
    bannerImage: brandingSettings?.image?.["bannerExternalUrl"],
  };
  return createPollResult(context, target.id, "channel", fields, {
    missingCountsReason: `YouTube returned no statistics of the channel ${id}`,
    sourceState: readChannelIds(channel),
  });
}
