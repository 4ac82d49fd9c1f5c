/** The channels of YouTube: what describes and counts them, and where their videos are listed. */
import { Type, type Static } from "@sinclair/typebox";
import type { Target } from "../../core/collection.ts";
import { countOf, Told } from "./answers.ts";
import { countedOf, goneOf, inBatches, oneByOne, recordOf } from "./findings.ts";
import { itemsOf, largestThumbnail, List, Thumbnails } from "./youtube-answers.ts";
import { SourceFailure, type Finding, type ObservationRecord, type Surroundings } from "./port.ts";

const Channel = Type.Object({
  id: Type.String({ minLength: 3 }),
  snippet: Type.Optional(
    Type.Object({
      title: Told,
      description: Told,
      customUrl: Told,
      publishedAt: Told,
      country: Told,
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
      viewCount: Told,
      subscriberCount: Told,
      hiddenSubscriberCount: Told,
      videoCount: Told,
    }),
  ),
  brandingSettings: Type.Optional(
    Type.Object({ image: Type.Optional(Type.Object({ bannerExternalUrl: Told })) }),
  ),
});

/** Where the videos of a channel are listed; a target's memo. */
export type Place = {
  /** The channel's identifier, `UC…`. */
  readonly channel: string;
  /** The playlist of all its videos, `UU…`. */
  readonly uploads: string;
};

/** Observes channels: by identifier where it is known, else by handle. */
export async function* profilesOf(
  targets: readonly Target[],
  batchSize: number,
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const named = targets.filter((target) => channelOf(target) !== undefined);
  yield* inBatches(named, batchSize, (batch) => byIdentifier(batch, surroundings));
  const others = targets.filter((target) => channelOf(target) === undefined);
  yield* oneByOne(others, (target) => byHandle(target, surroundings));
}

async function* byIdentifier(
  batch: readonly Target[],
  { ask, now }: Surroundings,
): AsyncGenerator<Finding> {
  const ids = new Set(batch.map((target) => channelOf(target)));
  const answer = await ask({
    bucket: "general",
    path: "/channels",
    query: { part: PARTS, id: Array.from(ids).join(","), maxResults: String(ids.size) },
    schema: List,
  });
  const at = now();
  const { items, doubt } = itemsOf(Channel, answer);
  const channels = new Map(items.map((channel) => [channel.id, channel]));
  for (const target of batch) {
    const id = channelOf(target) ?? "";
    const channel = channels.get(id);
    if (channel !== undefined) yield tellOf(target, channel, at);
    else if (doubt !== undefined) yield { target: target.id, failure: doubt };
    else yield goneOf(target.id, `YouTube has no channel ${id}`);
  }
}

async function* byHandle(target: Target, surroundings: Surroundings): AsyncGenerator<Finding> {
  const channel = await askHandle(target.id, surroundings);
  const at = surroundings.now();
  yield channel === undefined
    ? goneOf(target.id, `YouTube has no channel ${target.id}`)
    : tellOf(target, channel, at);
}

/**
 * Where the videos of a channel are listed; its identifier is asked for where it is not known.
 *
 * @returns `undefined` where there is no such channel.
 */
export async function placeOf(
  target: Target,
  surroundings: Surroundings,
): Promise<Place | undefined> {
  const channel = channelOf(target);
  if (channel !== undefined) {
    return { channel, uploads: target.memo["uploads"] ?? uploadsOf(channel) };
  }
  const found = await askHandle(target.id, surroundings);
  return found === undefined ? undefined : memoOf(found);
}

const PARTS = "snippet,statistics,contentDetails,brandingSettings";

async function askHandle(forHandle: string, { ask }: Surroundings) {
  const answer = await ask({
    bucket: "general",
    path: "/channels",
    query: { part: PARTS, forHandle },
    schema: List,
  });
  const { items, doubt } = itemsOf(Channel, answer);
  const [channel] = items;
  if (channel === undefined && doubt !== undefined) throw new SourceFailure("refused", doubt);
  return channel;
}

function channelOf({ id, memo }: Target): string | undefined {
  return memo["channel"] ?? (id.startsWith("@") ? undefined : id);
}

function memoOf({ id, contentDetails }: Static<typeof Channel>): Place {
  // An empty name, as `likes` has it, is none.
  const uploads = contentDetails?.relatedPlaylists?.uploads ?? "";
  return { channel: id, uploads: uploads === "" ? uploadsOf(id) : uploads };
}

function uploadsOf(channel: string): string {
  return `UU${channel.slice(2)}`;
}

function tellOf({ id }: Target, channel: Static<typeof Channel>, at: number): Finding {
  const uncounted = `YouTube told no statistics of the channel ${channel.id}`;
  return countedOf(id, channelRecord(channel, at), at, uncounted, { memo: memoOf(channel) });
}

function channelRecord(
  { id, snippet = {}, statistics = {}, brandingSettings }: Static<typeof Channel>,
  at: number,
): ObservationRecord {
  const isHidden = statistics.hiddenSubscriberCount === true;
  return recordOf("channel", at, {
    id,
    username: usernameOf(snippet.customUrl),
    displayName: snippet.title,
    description: snippet.description,
    subscribers: isHidden ? null : countOf(statistics.subscriberCount),
    videoCount: countOf(statistics.videoCount),
    viewCount: countOf(statistics.viewCount),
    joinedAt: snippet.publishedAt,
    country: snippet.country,
    thumbnail: largestThumbnail(snippet.thumbnails),
    bannerImage: brandingSettings?.image?.bannerExternalUrl,
  });
}

function usernameOf(customUrl: unknown): unknown {
  return typeof customUrl === "string" ? customUrl.replace(/^@/, "") || undefined : customUrl;
}
