/** The shorts or tweets of a channel or user: a table with figures, and the choice to compare some. */
import { COMPARISON_MAX_NAMES, TABLE_LIMIT_MAX } from "../../../core/limits.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { hasDerivedFigures } from "../derived-figures.ts";
import { usePages } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS } from "../labels.ts";
import { ITEM_PAGES, type ItemRow } from "./item-pages.ts";
import { readCount, type OwnerPages } from "../owners/owner-pages.ts";
import { MoreButton } from "../parts/controls.tsx";
import { createItemComparisonPath } from "./compare-with-last.tsx";
import { ExternalLink } from "../parts/external-link.tsx";
import { NameCell } from "../parts/figures.tsx";
import { Age, Multiple, Rate, Share } from "./item-figures.tsx";
import { Picture } from "../parts/picture.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createPath, setParameters, splitNames, useAddress } from "../router.ts";
import { createPrice, createPriceNote } from "../session.ts";

/** Reads the items of an owner in the order of the address. A tab reads each order once. */
export function useItems({ itemKind }: OwnerPages, owner: string) {
  const { query } = useAddress();
  const { published, views, perHour, perDay } = ITEM_PAGES[itemKind];
  const sorts = [published, views, perHour, perDay, "ageMultiple"];
  const sort = sorts.find((name) => name === query.get("sort")) ?? published;
  const order = query.get("order") === "asc" ? "asc" : "desc";
  const read = usePages(["items", itemKind, owner, sort, order], (client) =>
    ITEM_PAGES[itemKind].open(client, owner, { sort, order, limit: TABLE_LIMIT_MAX }),
  );
  return { read, sort, order };
}

export function Items({ owner, id }: { readonly owner: OwnerPages; readonly id: string }) {
  const { itemKind, itemPath } = owner;
  const { read, sort, order } = useItems(owner, id);
  const chosen = splitNames(useAddress().query.get("chosen"));
  const title = getPluralLabel(itemKind);
  const isDescending = order === "desc";
  const sorting = {
    sort,
    // The newest ones have the least age.
    isDescending: isDescending !== (sort === ITEM_PAGES[itemKind].published),
    hint: `Sorts all ${title.toLowerCase()} of the ${owner.kind}${createPrice(1)}`,
    sortBy: (name: string) =>
      setParameters({ sort: name, order: name === sort && isDescending ? "asc" : "desc" }),
  };
  return (
    <section aria-labelledby={itemPath}>
      <h2 id={itemPath}>{title}</h2>
      <Reading read={read}>
        {(list) => {
          return (
            <>
              <Chosen owner={owner} ids={chosen} />
              <Table
                caption={
                  isSorted(owner, list.items)
                    ? `${title} by ${describeSort(owner, sort, isDescending)}.${createPriceNote(" Another order costs 1 credit.")}`
                    : `${title}: ${list.hasMore ? "the newest " : ""}${list.items.length}. Sorting orders these.`
                }
                columns={createColumns(owner, { id, listed: list.items, chosen })}
                items={list.items}
                getKey={(item) => item.id}
                empty={list.hasMore ? undefined : owner.items.emptyText}
                {...(isSorted(owner, list.items) && { sorting })}
              />
              <MoreButton list={list} noun={itemKind} />
            </>
          );
        }}
      </Reading>
    </section>
  );
}

/**
 * Whether the service sorts the items: by figures of their views. Where a platform tells no views,
 * the loaded ones are sorted by what it tells.
 */
const isSorted = ({ itemKind }: OwnerPages, listed: readonly ItemRow[]): boolean =>
  listed.some(({ figures }) => readCount(figures, ITEM_PAGES[itemKind].views) !== null);

function describeSort({ itemKind }: OwnerPages, sort: string, isDescending: boolean): string {
  const { published, views, perHour, perDay } = ITEM_PAGES[itemKind];
  if (sort === published) return `age, ${isDescending ? "newest" : "oldest"} first`;
  const names: Readonly<Record<string, string>> = {
    [views]: "views",
    [perHour]: "views per hour",
    [perDay]: "views per day",
  };
  const name = names[sort] ?? "multiple of the median";
  return `${name}, ${isDescending ? "greatest" : "least"} first`;
}

/** Links to the comparison of the chosen items. It stays in view, and comes before the table. */
function Chosen({ owner, ids }: { readonly owner: OwnerPages; readonly ids: readonly string[] }) {
  const noun = getPluralLabel(owner.itemKind).toLowerCase();
  if (ids.length === 0) {
    return (
      <p class="hint">
        Choose up to {COMPARISON_MAX_NAMES} {noun} to see their curves over each other.
      </p>
    );
  }
  return (
    <div class="chosen" role="group" aria-label={`Chosen ${noun}`}>
      {ids.length > 1 ? (
        <a class="button primary" href={createItemComparisonPath(owner, ids)}>
          Compare {ids.length}
          {createPrice(ids.length)}
        </a>
      ) : (
        <span>Choose one more to compare</span>
      )}
      <button type="button" class="plain" onClick={() => setChosen([])}>
        Choose none
      </button>
    </div>
  );
}

const setChosen = (ids: readonly string[]) =>
  setParameters({ chosen: ids.join() }, { isReplaced: true });

interface ListedItems {
  /** The identifier of the owner. */
  readonly id: string;
  readonly listed: readonly ItemRow[];
  readonly chosen: readonly string[];
}

function createColumns(owner: OwnerPages, { id, listed, chosen }: ListedItems): Column<ItemRow>[] {
  const { itemKind } = owner;
  const { published, views, perHour, perDay } = ITEM_PAGES[itemKind];
  const labels = COUNT_LABELS[itemKind];
  const isKnown = (name: string) => listed.some(({ figures }) => readCount(figures, name) !== null);
  /** Some platforms tell no views of tweets: their likes are known. */
  const hasViews = isSorted(owner, listed);
  const counts = hasViews ? [views] : ["likes", "retweets", "replies"].filter(isKnown);
  const viewsLabel = labels[views] ?? views;
  const getFigure = (name: string) => ({
    getValue: ({ figures }: ItemRow) => readCount(figures, name),
  });
  const createRate = (label: string, name: string): Column<ItemRow> => ({
    label,
    as: "count",
    sort: name,
    isWide: true,
    ...getFigure(name),
    render: ({ figures }) => <Rate value={readCount(figures, name)} />,
  });
  const derived: Column<ItemRow>[] = [
    createRate("Per hour", perHour),
    createRate("Per day", perDay),
    {
      label: "Engagement",
      as: "percent",
      isWide: true,
      ...getFigure("engagement"),
      render: ({ figures }) => <Share value={readCount(figures, "engagement")} />,
    },
    {
      label: "× median",
      as: "count",
      sort: "ageMultiple",
      ...getFigure("ageMultiple"),
      render: ({ figures }) => <Multiple value={readCount(figures, "ageMultiple")} />,
    },
  ];
  const trend: Column<ItemRow> = {
    label: "30 days",
    as: "trend",
    isWide: true,
    render: ({ trend: values, title, id: item }) => (
      <Sparkline
        values={values.map(({ value }) => value)}
        instants={values.map(({ day }) => Date.parse(day))}
        label={`${viewsLabel} of ${title ?? item} over 30 days`}
      />
    ),
  };
  return [
    {
      label: KIND_LABELS[itemKind],
      as: "name",
      render: (item) => (
        <NameCell
          href={createPath(owner.path, id, owner.itemPath, item.id)}
          name={item.title ?? item.id}
          picture={
            <>
              <ChoiceBox item={item} chosen={chosen} />
              {item.picture && <Picture of={item.picture} name={item.title ?? item.id} />}
            </>
          }
          below={
            <small class="narrow muted">
              <Age since={item.publishedAt} /> <ExternalLink link={item.link} isShort />
            </small>
          }
        />
      ),
    },
    {
      label: "Age",
      as: "exact",
      sort: published,
      isWide: true,
      field: "publishedAt",
      render: ({ publishedAt, link }) => (
        <>
          <Age since={publishedAt} /> <ExternalLink link={link} isShort />
        </>
      ),
    },
    ...counts.map((count): Column<ItemRow> => ({
      label: labels[count] ?? count,
      as: "count",
      sort: count === views ? views : undefined,
      getValue: ({ figures }) => readCount(figures, count),
    })),
    ...(hasDerivedFigures(itemKind) && hasViews ? derived : []),
    ...(hasViews ? [trend] : []),
    {
      label: "Observed",
      as: "exact",
      isWide: true,
      render: ({ observedAt }) => (
        <>
          <Age since={observedAt} /> ago
        </>
      ),
    },
  ];
}

function ChoiceBox({ item, chosen }: Readonly<{ item: ItemRow; chosen: readonly string[] }>) {
  const { id, title } = item;
  const isChosen = chosen.includes(id);
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isChosen}
        // A comma separates the identifiers of a comparison.
        disabled={id.includes(",") || (!isChosen && chosen.length >= COMPARISON_MAX_NAMES)}
        onChange={() =>
          setChosen(isChosen ? chosen.filter((other) => other !== id) : [...chosen, id])
        }
      />
      <span class="hidden">Compare {title ?? id}</span>
    </label>
  );
}
