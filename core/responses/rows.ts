/** Creates the rows of lists with chosen columns. */
import { OBSERVED_AT, TREND } from "../columns.ts";
import { ENTITY_FIELDS, type EntityFields, type EntityKind } from "../kinds.ts";
import { computeRowMetric, type RowValues } from "../metrics/row-metrics.ts";
import type {
  ChannelRow,
  DailyValue,
  ShortRow,
  TweetRow,
  UserRow,
} from "../resources/generated/types.ts";
import { formatInstantOrNull } from "../time.ts";

/** A row of a list of a kind. */
export type Row<Kind extends EntityKind> = {
  readonly channel: ChannelRow;
  readonly short: ShortRow;
  readonly user: UserRow;
  readonly tweet: TweetRow;
}[Kind];

/** What a row is created from. */
export interface RowSource {
  /** The identifier of the entity; of a user, the username. */
  readonly id: string;
  /** The fields, gains and metrics by name; what is not known is `null` or absent. */
  readonly values: RowValues;
  /** From `listDailyValues()`, if the row has the column. */
  readonly trend?: readonly DailyValue[];
}

/**
 * Creates a row: the identifier, then the columns in the order of `fields`.
 *
 * @param fields From `parseFields()`.
 *
 * @example
 * const values = { subscribers: 205, dailySubscriberGain: 5, joinedAt: 0 };
 * createRow("channel", ["joinedAt", "dailySubscriberGainPercent"], { id: "UC1", values });
 * // { id: "UC1", joinedAt: "1970-01-01T00:00:00.000Z", dailySubscriberGainPercent: 2.5 }
 */
export function createRow<Kind extends EntityKind>(
  kind: Kind,
  fields: readonly string[],
  { id, values, trend = [] }: RowSource,
): Row<Kind> {
  const { idField, attributes }: EntityFields = ENTITY_FIELDS[kind];
  const row: Record<string, unknown> = { [idField]: id };
  for (const field of fields) {
    const value = values[field];
    if (field === TREND) row[field] = trend;
    else if (attributes[field] === "instant" || field === OBSERVED_AT) {
      row[field] = formatInstantOrNull(typeof value === "number" ? value : null);
    } else if (value === undefined) row[field] = computeRowMetric(kind, field, values) ?? null;
    else row[field] = value;
  }
  // The types of the values follow from the fields of the kind.
  return row as unknown as Row<Kind>;
}
