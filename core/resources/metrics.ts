/** Schemas of the metrics of entities, and of the list of all metrics. */
import * as Type from "@sinclair/typebox";
import { ENTITY_KINDS, type EntityKind, type OwnerKind } from "../kinds.ts";
import { AGE_MULTIPLE_ITEMS, METRICS, METRIC_UNITS, type MetricName } from "../metrics/catalog.ts";
import { ESTIMATES } from "../metrics/estimate-catalog.ts";
import {
  ChannelName,
  Count,
  CountChange,
  createChoice,
  describe,
  Instant,
  InstantOrNull,
  nullable,
  strictObject,
  Username,
} from "./fields.ts";
import type { Nullable, ResourceSchemas } from "./generated/schemas.ts";

/** The schemas of the metrics of a kind. Gains are whole numbers. */
type MetricSchemas<Kind extends EntityKind> = {
  [Name in MetricName<Kind>]: Nullable<Name extends `${string}Gain` ? Type.TInteger : Type.TNumber>;
};

/** Creates the schema of the metrics of a kind, by name. */
function createMetricsSchema<Kind extends EntityKind>(
  kind: Kind,
): Type.TObject<MetricSchemas<Kind>> {
  const fields = Object.entries(METRICS[kind]).map(([name, { unit, formula, window, limits }]) => {
    const schema = unit === "count" ? CountChange : Type.Number();
    const description = `${formula}. Unit: ${unit}. Window: ${window}. Limits: ${limits}`;
    return [name, nullable(schema, { description })];
  });
  // `Object.fromEntries()` does not know the names.
  const properties = Object.fromEntries(fields) as MetricSchemas<Kind>;
  return strictObject(properties, {
    description: "All metrics of the kind, by name, as `GET /api/metrics` describes them",
  });
}

const observedAt = describe(InstantOrNull, "The newest observation; null if there is none");

const describeEstimate = (name: keyof typeof ESTIMATES): string => {
  const { formula, window, limits } = ESTIMATES[name];
  return `${formula}. Window: ${window}. Limits: ${limits}`;
};

/** What is estimated of the main count of a channel or user. */
const createEstimateSchemas = (count: string) => ({
  roundingStep: nullable(describe(Count, `Of ${count}`), {
    description: describeEstimate("roundingStep"),
  }),
  trend: nullable(
    strictObject({
      estimate: describe(Count, `${count} at the newest observation: an estimate`),
      perDay: Type.Number({ description: "The growth per day: an estimate" }),
      roundingStep: describe(Count, "The step of the source's rounding"),
      changes: describe(Count, "The changes that the line is fitted through"),
      standardError: Type.Number({ minimum: 0, description: "That of the estimate" }),
    }),
    { description: describeEstimate("trend") },
  ),
  projection: nullable(
    strictObject({
      milestone: describe(Count, "The next milestone"),
      from: describe(Instant, "The earliest instant at which it is reached"),
      to: describe(Instant, "The latest instant at which it is reached"),
    }),
    { description: describeEstimate("projection") },
  ),
  milestone: nullable(
    strictObject({
      milestone: describe(Count, "The milestone"),
      at: describe(Instant, "The first observation at or above it"),
    }),
    { description: describeEstimate("milestone") },
  ),
});

/** The response of `GET /api/video/{channel}/metrics`. */
export const ChannelMetrics: ResourceSchemas["ChannelMetrics"] = strictObject({
  channel: ChannelName,
  observedAt,
  metrics: createMetricsSchema("channel"),
  ...createEstimateSchemas("Subscribers"),
});

/** The response of `GET /api/microblog/{username}/metrics`. */
export const UserMetrics: ResourceSchemas["UserMetrics"] = strictObject({
  username: Username,
  observedAt,
  metrics: createMetricsSchema("user"),
  ...createEstimateSchemas("Followers"),
});

/** What an item was compared with for its age multiple. */
const ageComparison = nullable(
  strictObject({
    comparedItems: describe(Count, "Earlier items whose views at this age are known"),
    median: nullable(Type.Number({ minimum: 0 }), {
      description: `The median of their views; null with fewer than ${AGE_MULTIPLE_ITEMS.min}`,
    }),
  }),
  { description: "What ageMultiple compares with; null if derived figures are turned off" },
);

/** The response of `GET /api/video/{channel}/short/{short_id}/metrics`. */
export const ShortMetrics: ResourceSchemas["ShortMetrics"] = strictObject({
  channel: ChannelName,
  short_id: Type.String({ description: "Identifier of the short" }),
  observedAt,
  metrics: createMetricsSchema("short"),
  ageComparison,
});

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}/metrics`. */
export const TweetMetrics: ResourceSchemas["TweetMetrics"] = strictObject({
  username: Username,
  tweet_id: Type.String({ description: "Identifier of the tweet" }),
  observedAt,
  metrics: createMetricsSchema("tweet"),
  ageComparison,
});

const TEXTS = {
  formula: Type.String({ description: "How the value is computed" }),
  window: Type.String({ description: "The observations that it is computed from" }),
  limits: Type.String({ description: "When the value is null" }),
  isDerived: Type.Boolean({
    description: "Whether it is null if DERIVED_METRICS leaves out the platform of the kind",
  }),
};

const OWNER_KINDS: readonly OwnerKind[] = ["channel", "user"];

/** The response of `GET /api/metrics`. */
export const MetricList: ResourceSchemas["MetricList"] = strictObject({
  metrics: Type.Array(
    strictObject({
      kind: createChoice(ENTITY_KINDS, "What it is a metric of"),
      name: Type.String({ description: "Its name in responses, columns and sorts" }),
      unit: createChoice(METRIC_UNITS, "multiple and ratio are numbers without a unit"),
      ...TEXTS,
      isSort: Type.Boolean({ description: "Whether lists of the kind can be sorted by it" }),
    }),
    { description: "By kind, in the order of responses" },
  ),
  estimates: Type.Array(
    strictObject({
      kind: createChoice(OWNER_KINDS, "What it is an estimate of"),
      name: Type.String({ description: "The name of its field beside metrics" }),
      unit: Type.String({ description: "Of its parts" }),
      ...TEXTS,
    }),
    { description: "Fields beside metrics, of the subscribers or followers" },
  ),
  derivedMetrics: Type.Array(createChoice(["video", "microblog"], "A platform"), {
    description: "The platforms whose derived figures are given; of others, they are null",
  }),
});
