/** The labels of kinds, counts, periods of gains, and sorts of lists, as people read them. */
import { GAIN_DEFINITIONS, listSortedGains, type GainDefinition } from "../../core/growth.ts";
import { KINDS, type CountName, type EntityKind, type OwnerKind } from "../../core/kinds.ts";
import type { PERCENT_SUFFIX } from "../../core/metrics/catalog.ts";

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

/** The catalog of metrics has texts that pages do not need: they take its names, and not its code. */
const PERCENT: typeof PERCENT_SUFFIX = "Percent";

/** The name of a gain in percent. */
export const getPercentName = (gain: string): string => gain + PERCENT;

/** The name of the gain of a kind's main count over a period: `weeklyFollowerGain`. */
export function getMainGain(kind: OwnerKind, period: GainDefinition["period"]): string {
  const main = pickCount(COUNT_LABELS[kind], null);
  const gains = Object.entries(GAIN_DEFINITIONS[kind]);
  return gains.find(([, gain]) => gain.count === main && gain.period === period)?.[0] ?? "";
}

/** The field that a sort compares: gains are sorts by their names. */
export function getSortField(kind: OwnerKind, sort: string): string {
  const sorts: Readonly<Record<string, string>> = KINDS[kind].sorts;
  return sorts[sort] ?? sort;
}

/** The sorts of a list, by name: `weeklyFollowerGain` is `Followers gained in a week`. */
export function getSortLabels(
  kind: OwnerKind,
  { hasPercents }: { readonly hasPercents: boolean },
): Readonly<Record<string, string>> {
  const labels = COUNT_LABELS[kind];
  const main = pickCount(labels, null);
  const counts = Object.entries<string>(KINDS[kind].sorts).map(([sort, field]) => [
    sort,
    labels[field],
  ]);
  const gains = listSortedGains(kind).flatMap((gain) => {
    const { count = "", period = "daily" } = GAIN_DEFINITIONS[kind][gain] ?? {};
    const label = `${labels[count]} gained in ${PERIOD_LABELS[period]}`;
    const percent = [getPercentName(gain), `${label}, in %`];
    return count === main && hasPercents ? [[gain, label], percent] : [[gain, label]];
  });
  return Object.fromEntries([...counts, ...gains]);
}
