/** Polls YouTube channels: their attributes, counts, and the playlist that lists their videos. */
import { Type, type Static } from "@sinclair/typebox";
import { parseCount, Unchecked, UncheckedFields } from "../client/responses.ts";
import type { CollectorContext, PollResult, CollectionTarget } from "../collector.ts";
import {
  createPollResult,
  observe,
  pollBatch,
  pollOneByOne,
  throwMissing,
  type PollBatch,
} from "../poll-tasks.ts";
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

/** The source state: the identifier of a channel, `UC…`, and its playlist of all videos, `UU…`. */
type ChannelIds = Readonly<Record<"channel" | "uploads", string>>;

/** Observes channels: all with a known identifier in one request, others by handle, one by one. */
export async function* pollChannels(
  targets: readonly CollectionTarget[],
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const identified = targets.filter((target) => readChannelId(target) !== undefined);
  yield* pollBatch(identified, context, pollById);
  const unidentified = targets.filter((target) => readChannelId(target) === undefined);
  yield* pollOneByOne(unidentified, async function* (target) {
    const channel = await fetchChannelByHandle(target.id, context);
    yield createPollResult(target.id, () => observeChannel(context, channel));
  });
}

const pollById: PollBatch = async (batch, context) => {
  const ids = new Set(batch.map((target) => readChannelId(target)));
  const query = { id: Array.from(ids).join(","), maxResults: String(ids.size) };
  const { items, warning } = await fetchChannels(query, context);
  const channels = new Map(items.map((channel) => [channel.id, channel]));
  return (target) => {
    const id = readChannelId(target) ?? "";
    const channel = channels.get(id) ?? throwMissing(`YouTube has no channel ${id}`, warning);
    return observeChannel(context, channel);
  };
};

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
    path: "/channels",
    query: { part: "snippet,statistics,contentDetails,brandingSettings", ...query },
  });
}

async function fetchChannelByHandle(handle: string, context: CollectorContext): Promise<Channel> {
  const { items, warning } = await fetchChannels({ forHandle: handle }, context);
  return items[0] ?? throwMissing(`YouTube has no channel ${handle}`, warning);
}

const readChannelId = ({ id, sourceState }: CollectionTarget) =>
  sourceState["channel"] ?? (id.startsWith("@") ? undefined : id);

const readChannelIds = ({ id, contentDetails }: Channel): ChannelIds => ({
  channel: id,
  // YouTube writes a missing playlist as an empty name.
  uploads: contentDetails?.relatedPlaylists?.uploads || formatUploadsId(id),
});

const formatUploadsId = (channel: string) => `UU${channel.slice(2)}`;

function observeChannel(context: CollectorContext, channel: Channel) {
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
  const missingCountsReason = `YouTube returned no statistics of the channel ${id}`;
  const observed = observe(context, "channel", fields, missingCountsReason);
  return { ...observed, sourceState: readChannelIds(channel) };
}
