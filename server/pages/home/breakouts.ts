/** Reads the items of the last days with most views beside others of their creators. */
import type { Client } from "../../../core/client/mod.ts";
import type { ItemKind } from "../../../core/kinds.ts";
import type { ShortRow, TweetRow } from "../../../core/resources/generated/types.ts";
import { DAY_MS } from "../../../core/time.ts";
import type { Pictured } from "../pictures.ts";

/** How long ago an item was published at most. */
export const BREAKOUT_DAYS = 7;

/** More than home shows: some may be no breakouts. */
const ITEMS_MAX = 10;

export interface Breakout {
  readonly id: string;
  /** The name by which requests find its channel or user. */
  readonly owner: string;
  readonly ownerName: string;
  readonly title: string;
  readonly publishedAt: string | null;
  readonly picture: Pictured;
  readonly views: number | null;
  /** Its views over the median that others of its creator had at its age. */
  readonly multiple: number;
}

/** @param list A saved list whose items are read; empty for all. */
export async function readBreakouts(
  kind: ItemKind,
  client: Client,
  list: string,
): Promise<readonly Breakout[]> {
  const query = {
    sort: "ageMultiple",
    from: new Date(Date.now() - BREAKOUT_DAYS * DAY_MS).toISOString(),
    limit: ITEMS_MAX,
    list: list || undefined,
  } as const;
  const breakouts = kind === "short" ? readShorts(client, query) : readTweets(client, query);
  return (await breakouts).filter(({ multiple }) => multiple > 1);
}

type ItemQuery<Method extends (query: never) => unknown> = NonNullable<Parameters<Method>[0]>;

async function readShorts({ video }: Client, query: ItemQuery<Client["video"]["shortTable"]>) {
  const fields = ["channel", "displayName", "title", "thumbnail", "publishedAt"] as const;
  const listing = video.shortTable({ ...query, fields: [...fields, "views", "ageMultiple"] });
  for await (const { body } of listing.pages()) return body.shorts.map(createShort);
  return [];
}

async function readTweets(
  { microblog }: Client,
  query: ItemQuery<Client["microblog"]["tweetTable"]>,
) {
  const fields = ["username", "displayName", "text", "created_at"] as const;
  const counts = ["impressions", "ageMultiple"] as const;
  const listing = microblog.tweetTable({ ...query, fields: [...fields, ...counts] });
  for await (const { body } of listing.pages()) return body.tweets.map(createTweet);
  return [];
}

const createShort = ({ id, channel, ...short }: ShortRow): Breakout => ({
  id,
  owner: channel ?? "",
  ownerName: short.displayName ?? channel ?? "",
  title: short.title ?? id,
  publishedAt: short.publishedAt ?? null,
  picture: { kind: "short", id, link: short.thumbnail ?? null },
  views: short.views ?? null,
  multiple: short.ageMultiple ?? 0,
});

const createTweet = ({ id, username, ...tweet }: TweetRow): Breakout => ({
  id,
  owner: username ?? "",
  ownerName: tweet.displayName ?? username ?? "",
  title: tweet.text ?? id,
  publishedAt: tweet.created_at ?? null,
  picture: { kind: "user", id: username ?? "" },
  views: tweet.impressions ?? null,
  multiple: tweet.ageMultiple ?? 0,
});
