/** The sorts of lists follow from the counts, gains and metrics of their kinds. */
import { describe, expect, test } from "bun:test";
import { listSortedGains } from "../../core/growth.ts";
import { ENTITY_FIELDS, ENTITY_KINDS } from "../../core/kinds.ts";
import { SORT_FIELDS, SORTS, type SortName } from "../../core/list-sorts.ts";
import { METRICS } from "../../core/metrics/catalog.ts";

/** All names of a type: a missing or wrong name does not compile. */
const NAMES: { readonly [Kind in "short" | "tweet"]: Record<SortName<Kind>, true> } = {
  short: {
    publishedAt: true,
    views: true,
    viewsPerHour: true,
    viewsPerDay: true,
    ageMultiple: true,
  },
  tweet: {
    created_at: true,
    impressions: true,
    impressionsPerHour: true,
    impressionsPerDay: true,
    ageMultiple: true,
  },
};

const PERIODS = ["daily", "weekly", "monthly"];

describe("the fields of sorts", () => {
  test("SORT_FIELDS.channel are the counts of a channel and the gains that have an index, each once", () => {
    expect(SORT_FIELDS.channel).toMatchObject({
      subscribers: "subscribers",
      views: "viewCount",
      videos: "videoCount",
    });
    const percents = PERIODS.map((period) => `${period}SubscriberGainPercent`);
    const known = [...ENTITY_FIELDS.channel.counts, ...listSortedGains("channel"), ...percents];
    expect(Object.values(SORT_FIELDS.channel).toSorted()).toEqual(known.toSorted());
  });

  test("SORT_FIELDS.user are the followers of a user and their gains", () => {
    const percents = PERIODS.map((period) => `${period}FollowerGainPercent`);
    const gains = [...listSortedGains("user"), ...percents].map((name) => [name, name]);
    const expected = { followers: "followers_count", ...Object.fromEntries(gains) };
    expect(SORT_FIELDS.user).toEqual(expected);
  });

  test.each(["short", "tweet"] as const)(
    "SORTS.%s are the publication, the views and the metrics that are sorts",
    (kind) => {
      expect([...SORTS[kind]]).toEqual(Object.keys(NAMES[kind]) as never);
      expect(Object.entries(SORT_FIELDS[kind]).every(([sort, field]) => sort === field)).toBe(true);
    },
  );

  test.each(ENTITY_KINDS)(
    "SORTS.%s has each metric that the catalog declares as a sort",
    (kind) => {
      expect(Object.keys(SORT_FIELDS[kind])).toEqual([...SORTS[kind]]);
      const metrics = Object.entries(METRICS[kind]).filter(([, { isSort }]) => isSort);
      const sorts: readonly string[] = SORTS[kind];
      expect(metrics.filter(([name]) => !sorts.includes(name))).toEqual([]);
    },
  );
});
