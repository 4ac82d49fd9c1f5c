/** The labels of kinds, counts, periods of gains, and sorts of lists, as people read them. */
import { SORT_FIELDS } from "../../core/lists.ts";
import type { CountName, EntityKind, OwnerKind } from "../../core/kinds.ts";
import { GAIN_DEFINITIONS, type GainDefinition } from "../../core/growth.ts";

export const KIND_LABELS: Readonly<Record<EntityKind, string>> = {
  channel: "Channel",
  short: "Short",
  user: "User",
  tweet: "Tweet",
};

export const getPluralLabel = (kind: EntityKind): string => `${KIND_LABELS[kind]}s`;

/** The counts of each kind, in the order of the pages. Charts begin with the first one. */
export const COUNT_LABELS: Readonly<Record<EntityKind, Readonly<Record<string, string>>>> = {
  channel: { subscribers: "Subscribers", viewCount: "Views", videoCount: "Videos" },
  short: { views: "Views", likes: "Likes", comments: "Comments", shares: "Shares" },
  user: { followers_count: "Followers", following_count: "Following", tweet_count: "Tweets" },
  tweet: {
    likes: "Likes",
    impressions: "Views",
    retweets: "Retweets",
    replies: "Replies",
    quotes: "Quotes",
  },
} satisfies { readonly [Kind in EntityKind]: Record<CountName<Kind>, string> };

/** Returns `name` if it is one of the counts, else the first count. */
export const pickCount = (labels: Readonly<Record<string, string>>, name: string | null): string =>
  Object.keys(labels).find((count) => count === name) ?? Object.keys(labels)[0] ?? "";

export const PERIOD_LABELS: Readonly<Record<GainDefinition["period"], string>> = {
  daily: "a day",
  weekly: "a week",
  monthly: "30 days",
};

/** The sorts of a list, by name: `weeklyGain` is `Followers gained in a week`. */
export function getSortLabels(kind: OwnerKind): Readonly<Record<string, string>> {
  const labels = COUNT_LABELS[kind];
  const entries = Object.entries<string>(SORT_FIELDS[kind]).map(([sort, field]) => {
    const gain = GAIN_DEFINITIONS[kind][sort];
    if (gain === undefined) return [sort, labels[field]];
    return [sort, `${labels[gain.count]} gained in ${PERIOD_LABELS[gain.period]}`];
  });
  return Object.fromEntries(entries);
}
