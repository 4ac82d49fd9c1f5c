/** The reads of the store in memory that find shorts and tweets by their identifiers alone. */
import type { Entity } from "../entities.ts";
import { createItemNotFoundError, DomainError } from "../errors.ts";
import { createComparisonTable } from "../histories.ts";
import { createAgeTable, listAgeValues, type ItemComparisonRequest } from "../item-comparison.ts";
import { KINDS, type ItemKind } from "../kinds.ts";
import { listHistoryPoints } from "../responses/entity-fields.ts";
import type { FoundItem, ItemComparison, StoreRead } from "../stores.ts";
import { foldCase } from "../text.ts";

/** The identifier of the owner of an item. */
export function readOwnerId(kind: ItemKind, { attributes }: Entity): string {
  const id = String(attributes[KINDS[kind].owner.field]?.value);
  return kind === "tweet" ? foldCase(id) : id;
}

/** Creates the reads of a kind of items. */
export function createFoundItemReads<Kind extends ItemKind, Details>(
  kind: Kind,
  entities: ReadonlyMap<string, Entity>,
  rules: {
    readonly findOwner: (id: string) => { readonly name: string } | undefined;
    /** Returns `undefined`, to leave an item out, while its instant of publication is unknown. */
    readonly readItem: (
      id: string,
      entity: Entity,
    ) =>
      | {
          readonly publishedAt: number;
          readonly title: string | null;
          readonly createDetails: (owner: string) => Details;
        }
      | undefined;
  },
): {
  readonly batch: (ids: readonly string[]) => StoreRead<(FoundItem<Details> | DomainError)[]>;
  readonly comparison: (request: ItemComparisonRequest<Kind>) => StoreRead<ItemComparison>;
} {
  function find(id: string) {
    const entity = entities.get(id);
    if (entity === undefined) return createItemNotFoundError(kind, id);
    const owner = rules.findOwner(readOwnerId(kind, entity))?.name;
    const item = rules.readItem(id, entity);
    if (owner === undefined || item === undefined) return createItemNotFoundError(kind, id);
    return { owner, item, points: listHistoryPoints(kind, entity) };
  }
  return {
    async batch(ids) {
      const results = ids.map(find).map((found) => {
        if (found instanceof DomainError) return found;
        const { owner, item } = found;
        return { owner, details: item.createDetails(owner) };
      });
      return { body: results };
    },
    async comparison(request) {
      const found = request.ids.map(find);
      const items = found.map((result) => {
        if (result instanceof DomainError) return result;
        const { owner, item } = result;
        return { owner, title: item.title, publishedAt: item.publishedAt };
      });
      const { countIndex } = request;
      if (request.by === "date") {
        const histories = found.map((result) => ("points" in result ? result.points : []));
        const { rows, pagination } = createComparisonTable(histories, countIndex, request);
        return { body: { items, table: { by: "date", rows, pagination } } };
      }
      const values = found.map((result) =>
        "points" in result
          ? listAgeValues(result.points, result.item.publishedAt, countIndex, request)
          : [],
      );
      return { body: { items, table: { by: "age", ...createAgeTable(values, request) } } };
    },
  };
}
