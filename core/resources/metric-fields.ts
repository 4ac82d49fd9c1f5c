/** Creates the schemas of metrics, as `metrics/catalog.ts` declares them. */
import type * as Type from "@sinclair/typebox";
import type { GainName } from "../growth.ts";
import type { EntityKind, ItemKind, OwnerKind } from "../kinds.ts";
import { METRICS, type ItemMetricName, type PERCENT_SUFFIX } from "../metrics/catalog.ts";
import { describe } from "./fields.ts";
import type { Nullable } from "./generated/schemas.ts";
import { ChangeOrNull, NumberOrNull } from "./kind-fields.ts";

/** The schema of a metric: counts and their changes are whole numbers. */
type MetricSchema = Nullable<Type.TInteger> | Nullable<Type.TNumber>;

/** Creates the schemas of the metrics of a kind. */
export function createMetricSchemas<Kind extends EntityKind>(kind: Kind): MetricSchemas<Kind> {
  const entries = Object.entries(METRICS[kind]).map(([name, { unit, formula, limits }]) => {
    const schema: MetricSchema = unit === "count" ? ChangeOrNull : NumberOrNull;
    return [name, describe(schema, `${formula}; ${limits}`)];
  });
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries(entries) as MetricSchemas<Kind>;
}

/** The schemas of the metrics of a kind, by name. */
type MetricSchemas<Kind extends EntityKind> = Kind extends OwnerKind
  ? Record<GainName<Kind>, Nullable<Type.TInteger>> &
      Record<`${GainName<Kind>}${typeof PERCENT_SUFFIX}`, Nullable<Type.TNumber>>
  : Record<ItemMetricName<Kind & ItemKind>, Nullable<Type.TNumber>>;
