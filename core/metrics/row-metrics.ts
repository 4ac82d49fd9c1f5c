/** Computes the metrics of a row that its own counts and gains tell, without a history. */
import { GAIN_DEFINITIONS } from "../growth.ts";
import { MAIN_COUNTS, type EntityKind, type ItemKind } from "../kinds.ts";
import { PUBLICATION_FIELDS } from "../list-sorts.ts";
import { ITEM_REACTIONS, PERCENT_SUFFIX } from "./catalog.ts";
import { computeEngagement } from "./engagement.ts";
import { computeAgeHours } from "./entity-metrics.ts";
import { computeGainPercent } from "./rates.ts";

/** The known fields, gains and metrics of an entity, by name. Instants are in milliseconds. */
export type RowValues = Readonly<Record<string, unknown>>;

/** Finds the gain that a gain in percent belongs to. */
function findPercentGain(
  kind: EntityKind,
  name: string,
): { readonly gain: string; readonly count: string } | undefined {
  if (!name.endsWith(PERCENT_SUFFIX)) return undefined;
  const gain = name.slice(0, -PERCENT_SUFFIX.length);
  const definition = GAIN_DEFINITIONS[kind][gain];
  return definition && { gain, count: definition.count };
}

/**
 * Computes a metric of a row.
 *
 * @param name A gain in percent, or a metric of an item that is no rate and no multiple.
 * @param values The counts, gains and instants of the entity; `null` is unknown.
 * @returns `undefined` for any other name, whose value the row itself has.
 *
 * @example
 * const values = { subscribers: 205, dailySubscriberGain: 5 };
 * computeRowMetric("channel", "dailySubscriberGainPercent", values); // 2.5
 */
export function computeRowMetric(
  kind: EntityKind,
  name: string,
  values: RowValues,
): number | null | undefined {
  const read = (field: string) => readNumber(values, field);
  const percent = findPercentGain(kind, name);
  if (percent !== undefined) {
    const [gain, count] = [read(percent.gain), read(percent.count)];
    return computeGainPercent(gain, gain === null || count === null ? null : count - gain);
  }
  return kind === "channel" || kind === "user" ? undefined : computeItemMetric(kind, name, read);
}

function computeItemMetric(kind: ItemKind, name: string, read: (field: string) => number | null) {
  switch (name) {
    case "ageHours": {
      const [at, publishedAt] = [read("observedAt"), read(PUBLICATION_FIELDS[kind])];
      if (at === null || publishedAt === null) return null;
      return computeAgeHours({ publishedAt, points: [{ at, counts: [] }] });
    }
    case "likeRate":
      return computeEngagement([read("likes")], read(MAIN_COUNTS[kind]));
    case "engagement":
      return computeEngagement(ITEM_REACTIONS[kind].map(read), read(MAIN_COUNTS[kind]));
    default:
      return undefined;
  }
}

function readNumber(values: RowValues, field: string): number | null {
  const value = values[field];
  return typeof value === "number" ? value : null;
}
