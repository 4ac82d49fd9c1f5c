/** Compares metrics and estimates of random histories with naive models. */
import { describe, expect, test } from "bun:test";
import type { HistoryPoint } from "../../../core/buckets.ts";
import { applyObservations, EMPTY_ENTITY } from "../../../core/entities.ts";
import type { EntityKind, ItemKind, OwnerKind } from "../../../core/kinds.ts";
import { findViewsAtAge, listViewsAtAge } from "../../../core/metrics/age-multiple.ts";
import { AGE_MULTIPLE_ITEMS } from "../../../core/metrics/catalog.ts";
import {
  computeItemMetrics,
  computeOwnerEstimates,
  computeOwnerMetrics,
  getItemViews,
} from "../../../core/metrics/entity-metrics.ts";
import { listHistoryPoints } from "../../../core/responses/entity-fields.ts";
import { createRandom } from "../../../core/testing/random.ts";
import { compareText } from "../../../core/text.ts";
import {
  listKnown,
  modelItemMetrics,
  modelOwnerMetrics,
  type ModelItem,
  type ModelObservation,
} from "../../model/metrics.ts";
import { modelEstimates } from "../../model/estimates.ts";
import { createRandomHistory, createRandomItems } from "../../support/random-histories.ts";

/** METRIC_CASES=50000 is the long form. A case is an owner with its estimates, or a creator's items. */
const CASES = Number(process.env["METRIC_CASES"] ?? 2000);
const TIMEOUT_MS = 60_000 + CASES * 20;

/** The counts of owners, by the middle of the names of their gains, and the main one. */
const OWNERS = {
  channel: {
    gains: { SubscriberGain: "subscribers", ViewGain: "viewCount", VideoGain: "videoCount" },
    main: "subscribers",
  },
  user: {
    gains: {
      FollowerGain: "followers_count",
      FollowingGain: "following_count",
      TweetGain: "tweet_count",
    },
    main: "followers_count",
  },
} as const;

const ITEMS = {
  short: { views: "views", reactions: ["likes", "comments", "shares"] },
  tweet: { views: "impressions", reactions: ["likes", "replies", "retweets", "quotes"] },
} as const;

function mergePoints(kind: EntityKind, observations: readonly ModelObservation[]): HistoryPoint[] {
  const { entity } = applyObservations(
    EMPTY_ENTITY,
    observations.map((observation) => ({ attributes: {}, ...observation })),
  );
  return listHistoryPoints(kind, entity);
}

function expectBetween(value: number, min: number, max: number): void {
  expect(value).toBeGreaterThan(min);
  expect(value).toBeLessThan(max);
}

/** Whether two numbers differ only by the rounding of floating-point arithmetic. */
const isClose = (a: number, b: number, scale = 1): boolean =>
  Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b)) + scale;

type Estimates = ReturnType<typeof computeOwnerEstimates>;
type ModelEstimates = ReturnType<typeof modelEstimates>;

function expectTrend(actual: Estimates["trend"], model: ModelEstimates["trend"]): void {
  expect(actual === null).toBe(model === null);
  if (actual === null || model === null) return;
  const { roundingStep, changes, estimate, perDay, standardError } = actual;
  expect({ roundingStep, changes }).toEqual({
    roundingStep: model.roundingStep,
    changes: model.changes,
  });
  expect(isClose(estimate, model.estimate, 0.51)).toBe(true);
  expect(isClose(perDay, model.perDay, 0.001)).toBe(true);
  expect(isClose(standardError, model.standardError, model.roundingStep / 1000)).toBe(true);
}

/** The quantile of the library is up to 1 % off, so it is compared with two that surround it. */
function expectProjection(
  actual: Estimates["projection"],
  project: ModelEstimates["project"],
): "given" | "null" {
  const [narrow, wide] = [project(0.99), project(1.001)];
  if (narrow === null || narrow.rSquared < 0.8 - 1e-9) {
    expect(actual).toBeNull();
    return "null";
  }
  // Near a limit, the two models differ.
  if (wide === null || narrow.rSquared < 0.8 + 1e-9) return "null";
  if (actual === null) throw new Error(`Expected ${JSON.stringify(narrow)}, got null`);
  expect(actual.milestone).toBe(narrow.milestone);
  const tolerance = (narrow.to - narrow.from) * 1e-6 + 1000;
  expectBetween(actual.from, wide.from - tolerance, narrow.from + tolerance);
  expectBetween(actual.to, narrow.to - tolerance, wide.to + tolerance);
  return "given";
}

describe.each(["channel", "user"] as const satisfies OwnerKind[])("of a %s", (kind) => {
  test(
    `computeOwnerMetrics() and computeOwnerEstimates() equal the models in ${CASES / 2} cases`,
    () => {
      const { gains, main } = OWNERS[kind];
      const given = { trend: 0, projection: 0, milestone: 0, roundingStep: 0 };
      for (let seed = 0; seed < CASES / 2; seed++) {
        const observations = createRandomHistory(createRandom(seed), kind);
        const points = mergePoints(kind, observations);
        const metrics: Record<string, number | null> = computeOwnerMetrics(kind, points);
        expect({ seed, metrics }).toEqual({
          seed,
          metrics: modelOwnerMetrics(gains, observations),
        });
        const newestAt = points.at(-1)?.at ?? 0;
        const estimates = computeOwnerEstimates(kind, points);
        const model = modelEstimates(listKnown(observations, main), newestAt);
        const { roundingStep, milestone } = estimates;
        expect({ seed, roundingStep, milestone }).toEqual({
          seed,
          roundingStep: model.roundingStep,
          milestone: model.milestone,
        });
        expectTrend(estimates.trend, model.trend);
        const projection = expectProjection(estimates.projection, model.project);
        if (estimates.trend !== null) given.trend++;
        if (projection === "given") given.projection++;
        if (milestone !== null) given.milestone++;
        if (roundingStep !== null) given.roundingStep++;
      }
      // Each is given, and is null, in many cases.
      for (const count of Object.values(given)) {
        expectBetween(count / (CASES / 2), 0.02, 0.98);
      }
    },
    TIMEOUT_MS,
  );
});

/** The newest earlier items of a creator, as the documents define them. */
function listEarlier(items: readonly ModelItem[], item: ModelItem): ModelItem[] {
  const oldestFirst = items.toSorted(
    (a, b) => a.publishedAt - b.publishedAt || compareText(a.id, b.id),
  );
  const index = oldestFirst.indexOf(item);
  return oldestFirst.slice(Math.max(0, index - AGE_MULTIPLE_ITEMS.max), index);
}

describe.each(["short", "tweet"] as const satisfies ItemKind[])("of a %s", (kind) => {
  test(
    `computeItemMetrics() equals the model in ${CASES / 2} cases`,
    () => {
      const measure = ({ publishedAt, observations }: ModelItem) => ({
        publishedAt,
        points: mergePoints(kind, observations),
      });
      let known = 0;
      for (let seed = 0; seed < CASES / 2; seed++) {
        const random = createRandom(seed + CASES);
        const items = createRandomItems(random, kind);
        const item = items[random(items.length)];
        if (item === undefined) throw new Error("There is no item");
        const earlier = listEarlier(items, item).map((other) => getItemViews(kind, measure(other)));
        const measured = measure(item);
        const age = findViewsAtAge(getItemViews(kind, measured));
        const views = age === null ? [] : listViewsAtAge(earlier, age.ageMs);
        const { metrics, ageComparison } = computeItemMetrics(kind, measured, views);
        const model = modelItemMetrics(ITEMS[kind], item, items);
        const found: Record<string, number | null> = { ...metrics, ...ageComparison };
        expect({ seed, found }).toEqual({ seed, found: model });
        if (metrics.ageMultiple !== null) known++;
      }
      expectBetween(known / (CASES / 2), 0.05, 0.9);
    },
    TIMEOUT_MS,
  );
});
