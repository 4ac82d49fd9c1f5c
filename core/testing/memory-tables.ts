/** The rows of lists of the store in memory, with all columns that a request can choose. */
import { OWNER_DISPLAY_NAME } from "../columns.ts";
import { listDailyValues } from "../daily-values.ts";
import { EMPTY_ENTITY, findNewestCounts, type Entity } from "../entities.ts";
import { KINDS, type EntityKind, type ItemKind, type OwnerKind } from "../kinds.ts";
import { PUBLICATION_FIELDS } from "../list-sorts.ts";
import { findViewsAtAge, listViewsAtAge } from "../metrics/age-multiple.ts";
import { AGE_MULTIPLE_ITEMS } from "../metrics/catalog.ts";
import { computeItemMetrics, getItemViews } from "../metrics/entity-metrics.ts";
import { listHistoryPoints } from "../responses/entity-fields.ts";
import type { TableRequest } from "../lists.ts";
import { createTable, type ListableRow } from "../responses/lists.ts";
import { compareText } from "../text.ts";

/** An owner, as the store finds it. */
export interface FoundOwner {
  readonly id: string;
  readonly name: string;
  readonly fields: { readonly displayName: string | null };
  readonly gains: object;
}

/** Creates the row of a channel or user. */
function createOwnerRow(
  kind: OwnerKind,
  { id, name, fields, gains }: FoundOwner,
  entity: Entity = EMPTY_ENTITY,
): ListableRow {
  const observedAt = findNewestCounts(entity)?.at ?? null;
  return {
    listId: id,
    id: KINDS[kind].idField === "username" ? name : id,
    values: { ...fields, ...gains, observedAt },
    trend: listDailyValues(kind, listHistoryPoints(kind, entity), observedAt ?? 0),
  };
}

/** Creates the rows of all items of an owner. */
function createItemRows(
  kind: ItemKind,
  owner: FoundOwner,
  items: readonly {
    readonly id: string;
    readonly publishedAt: number;
    readonly fields: object;
    readonly entity: Entity;
  }[],
): ListableRow[] {
  const oldestFirst = items
    .map((item) => ({ ...item, points: listHistoryPoints(kind, item.entity) }))
    .toSorted((a, b) => a.publishedAt - b.publishedAt || compareText(a.id, b.id));
  return oldestFirst.map((item, index) => {
    const { id, fields, points, publishedAt } = item;
    const age = findViewsAtAge(getItemViews(kind, item));
    const earlier = oldestFirst
      .slice(Math.max(0, index - AGE_MULTIPLE_ITEMS.max), index)
      .map((other) => getItemViews(kind, other));
    const views = age === null ? [] : listViewsAtAge(earlier, age.ageMs);
    const observedAt = points.at(-1)?.at ?? null;
    return {
      listId: id,
      id,
      values: {
        ...fields,
        ...computeItemMetrics(kind, item, views).metrics,
        [PUBLICATION_FIELDS[kind]]: publishedAt,
        [KINDS[kind].owner.field]: owner.name,
        [OWNER_DISPLAY_NAME]: owner.fields.displayName,
        observedAt,
      },
      trend: listDailyValues(kind, points, observedAt ?? 0),
    };
  });
}

/** Creates the reads of rows of owners and of their items. */
export function createTableReads<
  Kind extends OwnerKind,
  Item extends ItemKind,
  Owner extends FoundOwner,
>(
  entities: Readonly<Record<EntityKind, ReadonlyMap<string, Entity>>>,
  rules: {
    readonly kind: Kind;
    readonly item: Item;
    readonly listOwners: () => readonly Owner[];
    readonly find: (name: string) => Owner | undefined;
    /** Lists the items of an owner whose instant of publication is known. */
    readonly listItems: (
      owner: Owner,
    ) => readonly { readonly id: string; readonly fields: object }[];
  },
): {
  readonly owners: (request: TableRequest) => ReturnType<typeof createTable<Kind>>;
  readonly items: (request: TableRequest) => ReturnType<typeof createTable<Item>>;
} {
  const { kind, item, listOwners, find } = rules;
  function listItemRows(owner: Owner) {
    const items = rules.listItems(owner).map(({ id, fields }) => ({
      id,
      fields,
      publishedAt: Number(Reflect.get(fields, PUBLICATION_FIELDS[item])),
      entity: entities[item].get(id) ?? EMPTY_ENTITY,
    }));
    return createItemRows(item, owner, items);
  }
  /** Selects the owners that a request names, or all. */
  function selectNamed({ names }: TableRequest): readonly Owner[] {
    const named = names && new Set(names.map((name) => find(name)?.id));
    return listOwners().filter(({ id }) => named?.has(id) ?? true);
  }
  return {
    owners(request) {
      const rows = selectNamed(request).map((owner) =>
        createOwnerRow(kind, owner, entities[kind].get(owner.id)),
      );
      return createTable(kind, rows, request);
    },
    items(request) {
      return createTable(item, selectNamed(request).flatMap(listItemRows), request);
    },
  };
}
