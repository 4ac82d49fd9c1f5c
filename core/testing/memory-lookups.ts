/** Reads of shorts and tweets by identifier, in memory. */
import type { Entity } from "../entities.ts";
import type { ShortDetails, TweetDetails } from "../resources/generated/types.ts";
import { listHistoryPoints, readFields } from "../responses/entity-fields.ts";
import { createTweetDetails } from "../responses/microblog.ts";
import { createShortDetails } from "../responses/video.ts";
import { createFoundItemReads } from "./memory-items.ts";

/** Creates the reads of shorts by identifier. */
export function createShortLookups(
  entities: Readonly<Record<"short" | "tweet", Map<string, Entity>>>,
  listChannels: () => readonly { readonly id: string; readonly name: string }[],
): ReturnType<typeof createFoundItemReads<"short", ShortDetails>> {
  return createFoundItemReads("short", entities.short, {
    findOwner: (id) => listChannels().find((channel) => channel.id === id),
    readItem: (id, entity) => {
      const { publishedAt, ...fields } = readFields("short", id, entity);
      if (publishedAt === null) return undefined;
      const createDetails = () =>
        createShortDetails({ ...fields, publishedAt }, listHistoryPoints("short", entity));
      return { publishedAt, title: fields.title, createDetails };
    },
  });
}

/** Creates the reads of tweets by identifier. */
export function createTweetLookups(
  entities: Readonly<Record<"short" | "tweet", Map<string, Entity>>>,
  findOwner: (id: string) => { readonly name: string } | undefined,
): ReturnType<typeof createFoundItemReads<"tweet", TweetDetails>> {
  return createFoundItemReads("tweet", entities.tweet, {
    findOwner,
    readItem: (id, entity) => {
      const { created_at, ...fields } = readFields("tweet", id, entity);
      if (created_at === null) return undefined;
      const tweet = {
        fields: { ...fields, created_at },
        points: listHistoryPoints("tweet", entity),
      };
      const createDetails = (username: string) => createTweetDetails(username, tweet);
      return { publishedAt: created_at, title: fields.text, createDetails };
    },
  });
}
