/** Finds in memory what the metrics of an item compare. */
import { createNotFoundError } from "../errors.ts";
import type { ItemKind } from "../kinds.ts";
import type { ItemViews } from "../metrics/age-multiple.ts";
import { AGE_MULTIPLE_ITEMS } from "../metrics/catalog.ts";
import { getItemViews, type MeasuredItem } from "../metrics/entity-metrics.ts";
import { compareText } from "../text.ts";

/** Finds an item, and the views of the earlier ones that it is compared with. */
export function compareItem(
  kind: ItemKind,
  owner: string,
  items: readonly (MeasuredItem & { readonly id: string })[],
  id: string,
): {
  readonly item: MeasuredItem & { readonly owner: string; readonly id: string };
  readonly earlier: readonly ItemViews[];
} {
  const sorted = items.toSorted((a, b) => a.publishedAt - b.publishedAt || compareText(a.id, b.id));
  const index = sorted.findIndex((item) => item.id === id);
  const found = sorted[index];
  if (found === undefined) throw createNotFoundError(kind, owner, id);
  const { publishedAt, points } = found;
  const earlier = sorted.slice(Math.max(0, index - AGE_MULTIPLE_ITEMS.max), index);
  return {
    item: { owner, id, publishedAt, points },
    earlier: earlier.map((item) => getItemViews(kind, item)),
  };
}
