/** The labels of the pages for people follow from the kinds, their counts and their gains. */
import { describe, expect, test } from "bun:test";
import { ENTITY_FIELDS, ENTITY_KINDS } from "../../core/kinds.ts";
import { SORT_FIELDS, SORTS } from "../../core/list-sorts.ts";
import {
  COUNT_LABELS,
  getMainGain,
  getSortField,
  getSortLabels,
} from "../../server/pages/labels.ts";

describe("COUNT_LABELS", () => {
  test.each([...ENTITY_KINDS])("has each count of a %s once", (kind) => {
    expect(Object.keys(COUNT_LABELS[kind]).toSorted()).toEqual(
      [...ENTITY_FIELDS[kind].counts].toSorted(),
    );
  });
});

describe("getSortLabels()", () => {
  test("names counts by their labels, and gains by the count and the time", () => {
    expect(getSortLabels("channel", { hasPercents: true })).toEqual({
      subscribers: "Subscribers",
      views: "Views",
      videos: "Videos",
      dailySubscriberGain: "Subscribers gained in a day",
      dailySubscriberGainPercent: "Subscribers gained in a day, in %",
      weeklySubscriberGain: "Subscribers gained in a week",
      weeklySubscriberGainPercent: "Subscribers gained in a week, in %",
      monthlySubscriberGain: "Subscribers gained in 30 days",
      monthlySubscriberGainPercent: "Subscribers gained in 30 days, in %",
      dailyViewGain: "Views gained in a day",
      weeklyViewGain: "Views gained in a week",
      monthlyViewGain: "Views gained in 30 days",
    });
    expect(Object.keys(getSortLabels("user", { hasPercents: true }))[0]).toBe("followers");
    expect(getSortLabels("user", { hasPercents: true })["weeklyFollowerGain"]).toBe(
      "Followers gained in a week",
    );
  });

  test.each(["channel", "user"] as const)(
    "has each sort of a list of %ss, and its field",
    (kind) => {
      const sorts = Object.keys(getSortLabels(kind, { hasPercents: true }));
      expect(sorts.toSorted()).toEqual([...SORTS[kind]].toSorted());
      const fields = Object.fromEntries(sorts.map((sort) => [sort, getSortField(kind, sort)]));
      expect(fields).toEqual(SORT_FIELDS[kind]);
    },
  );
});

describe("getMainGain()", () => {
  test("names the gain of the main count over a period", () => {
    expect(getMainGain("channel", "weekly")).toBe("weeklySubscriberGain");
    expect(getMainGain("user", "monthly")).toBe("monthlyFollowerGain");
  });
});
