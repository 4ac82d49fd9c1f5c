/** The labels of the pages for people follow from the kinds, their counts and their gains. */
import { describe, expect, test } from "bun:test";
import { ENTITY_FIELDS, ENTITY_KINDS } from "../../core/kinds.ts";
import { COUNT_LABELS, getSortLabels } from "../../server/pages/labels.ts";

describe("COUNT_LABELS", () => {
  test.each([...ENTITY_KINDS])("has each count of a %s once", (kind) => {
    expect(Object.keys(COUNT_LABELS[kind]).toSorted()).toEqual(
      [...ENTITY_FIELDS[kind].counts].toSorted(),
    );
  });
});

describe("getSortLabels()", () => {
  test("names counts by their labels, and gains by the count and the time", () => {
    expect(getSortLabels("channel")).toEqual({
      subscribers: "Subscribers",
      views: "Views",
      videos: "Videos",
      dailyGain: "Subscribers gained in a day",
      weeklyGain: "Subscribers gained in a week",
      monthlyGain: "Subscribers gained in 30 days",
      dailyViews: "Views gained in a day",
      weeklyViews: "Views gained in a week",
      monthlyViews: "Views gained in 30 days",
    });
    expect(Object.keys(getSortLabels("user"))[0]).toBe("followers");
    expect(getSortLabels("user")["weeklyGain"]).toBe("Followers gained in a week");
  });
});
