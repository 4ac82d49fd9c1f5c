/**
 * Declares the metrics: the figures that are computed from the counts of an entity, by name, with
 * their units. Details, lists, columns, sorts and documents take the names from here.
 */
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS, listSortedGains, type GainName } from "../growth.ts";
import { mapKinds, MAIN_COUNTS, type EntityKind, type ItemKind, type OwnerKind } from "../kinds.ts";

/** What a metric is measured in. `multiple` and `ratio` are numbers without a unit. */
export type MetricUnit = (typeof METRIC_UNITS)[number];

/** All units of metrics. */
export const METRIC_UNITS = [
  "count",
  "percent",
  "hours",
  "per hour",
  "per day",
  "ratio",
  "multiple",
] as const;

/** A metric of a kind of entity. Its value is a number or, where the limits say so, `null`. */
export interface MetricDefinition {
  /** What it is measured in. */
  readonly unit: MetricUnit;
  /** How the value is computed. */
  readonly formula: string;
  /** The observations that it is computed from. */
  readonly window: string;
  /** When the value is `null`. */
  readonly limits: string;
  /** Whether it is more than a difference of counts: then a platform's terms may forbid it. */
  readonly isDerived: boolean;
  /** Whether lists can be sorted by it. */
  readonly isSort: boolean;
}

/** The metrics of a kind, by name. */
type KindMetrics = Readonly<Record<string, MetricDefinition>>;

/** The ending of the names of gains in percent: `dailySubscriberGainPercent`. */
export const PERCENT_SUFFIX = "Percent";

/** The names of the metrics of a kind. */
export type MetricName<Kind extends EntityKind> = Kind extends OwnerKind
  ? GainName<Kind> | `${GainName<Kind>}Percent`
  : Kind extends ItemKind
    ? ItemMetricName<Kind>
    : never;

/** The names of the metrics of items. */
export type ItemMetricName<Kind extends ItemKind> =
  | "ageHours"
  | `${{ short: "views"; tweet: "impressions" }[Kind]}${RateWindow}`
  | "engagement"
  | "likeRate"
  | "ageMultiple";

/** The counts of an item that are reactions of its viewers. */
export const ITEM_REACTIONS: Readonly<Record<ItemKind, readonly string[]>> = {
  short: ["likes", "comments", "shares"],
  tweet: ["likes", "replies", "retweets", "quotes"],
};

/** The endings of the names of rates: counts per hour or per day. */
export type RateWindow = "PerHour" | "PerDay";

/** The hours or days that a rate looks back: at least, and at most. */
export const RATE_WINDOWS: Readonly<
  Record<
    RateWindow,
    Readonly<{ unit: MetricUnit; minHours: number; maxHours: number; unitHours: number }>
  >
> = {
  PerHour: { unit: "per hour", minHours: 1, maxHours: 24, unitHours: 1 },
  PerDay: { unit: "per day", minHours: 24, maxHours: 7 * 24, unitHours: 24 },
};

/** The earlier items that an item is compared with: at least, and at most, the newest ones. */
export const AGE_MULTIPLE_ITEMS: { readonly min: number; readonly max: number } = {
  min: 5,
  max: 100,
};

/** Counts that the sources of a kind never tell. */
const NEVER_TOLD: Readonly<Partial<Record<EntityKind, string>>> = {
  short: ", so always for shorts that were collected from YouTube, which tells no shares",
};

/** The metrics that lists of each kind can be sorted by. Each has an index, which imports pay for. */
export const SORTED_METRICS: Readonly<Record<EntityKind, readonly string[]>> = mapKinds((kind) => {
  if (kind !== "channel" && kind !== "user") {
    const rates = Object.keys(RATE_WINDOWS).map((suffix) => MAIN_COUNTS[kind] + suffix);
    return [...rates, "ageMultiple"];
  }
  const gains = listSortedGains(kind);
  // Of the gains in percent, only those of the main count have an index.
  const main = gains.filter((name) => GAIN_DEFINITIONS[kind][name]?.count === MAIN_COUNTS[kind]);
  return [...gains, ...main.map((name) => name + PERCENT_SUFFIX)];
});

/** The metrics of each kind, by name. Without the mark, pages that only sort would load the texts. */
export const METRICS: Readonly<Record<EntityKind, Readonly<Record<string, MetricDefinition>>>> =
  /* @__PURE__ */ mapKinds((kind) =>
    kind === "channel" || kind === "user" ? createOwnerMetrics(kind) : createItemMetrics(kind),
  );

function createOwnerMetrics(kind: OwnerKind): KindMetrics {
  const metrics: Record<string, MetricDefinition> = {};
  const gains = Object.entries(GAIN_DEFINITIONS[kind]);
  for (const [name, { count, period }] of gains) {
    const days = GAIN_PERIOD_DAYS[period];
    metrics[name] = {
      unit: "count",
      formula: `${count} now minus ${count} before`,
      window: `The newest observation, and the newest known count from ${days} to ${2 * days} days before it`,
      limits: "null if either count is unknown; a loss is negative",
      isDerived: false,
      isSort: SORTED_METRICS[kind].includes(name),
    };
  }
  for (const [name, { count }] of gains) {
    metrics[name + PERCENT_SUFFIX] = {
      unit: "percent",
      formula: `100 * ${name} / ${count} before`,
      window: `That of ${name}`,
      limits: `null if ${name} is, and for a gain from 0; rounded to 4 decimals`,
      isDerived: true,
      isSort: SORTED_METRICS[kind].includes(name + PERCENT_SUFFIX),
    };
  }
  return metrics;
}

function createItemMetrics(kind: ItemKind): KindMetrics {
  const count = MAIN_COUNTS[kind];
  const metrics: Record<string, MetricDefinition> = {
    ageHours: {
      unit: "hours",
      formula: "The newest observation minus the publication",
      window: "The newest observation",
      limits: "null if the item was observed before it was published; rounded to 4 decimals",
      isDerived: false,
      isSort: false,
    },
  };
  for (const [suffix, { unit, minHours, maxHours }] of Object.entries(RATE_WINDOWS)) {
    metrics[count + suffix] = {
      unit,
      formula: `(${count} now - ${count} before) / the time between`,
      window: `The newest observation, and the newest known count from ${minHours} to ${maxHours} hours before it`,
      limits: "null if either count is unknown; a loss is negative; rounded to 4 decimals",
      isDerived: true,
      isSort: true,
    };
  }
  const reactions = ITEM_REACTIONS[kind];
  metrics["engagement"] = {
    unit: "ratio",
    formula: `(${reactions.join(" + ")}) / ${count}`,
    window: "The newest observation",
    limits:
      `null if one of the counts is unknown or ${count} is 0` +
      `${NEVER_TOLD[kind] ?? ""}; rounded to 4 decimals`,
    isDerived: true,
    isSort: false,
  };
  metrics["likeRate"] = {
    unit: "ratio",
    formula: `likes / ${count}`,
    window: "The newest observation",
    limits: `null if one of the counts is unknown or ${count} is 0; rounded to 4 decimals`,
    isDerived: true,
    isSort: false,
  };
  metrics["ageMultiple"] = {
    unit: "multiple",
    formula: `${count} / the median of the ${count} that earlier items of the same creator had at the same age`,
    window:
      `The newest observation with known ${count}, and up to ${AGE_MULTIPLE_ITEMS.max} items published ` +
      "before, the newest of them; their counts are interpolated between two known ones, never beyond",
    limits:
      `null with fewer than ${AGE_MULTIPLE_ITEMS.min} earlier items whose count at this age is known, and ` +
      "if the median is 0; rounded to 4 decimals",
    isDerived: true,
    isSort: true,
  };
  return metrics;
}
