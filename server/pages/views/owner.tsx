/** The page of a channel or user with its items, and of a short or tweet: figures and history. */
import { Sparkline } from "../charts/sparkline.tsx";
import { usePages, useRead, type ListedPages } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS, PERIOD_LABELS } from "../labels.ts";
import { PAGE_ITEMS, readCount, type ListedItem, type OwnerPages } from "../owners/owner-pages.ts";
import { MoreButton } from "../parts/controls.tsx";
import { Change, Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { Heading } from "../parts/frame.tsx";
import { History } from "../parts/history.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { findRoundingStep } from "../changes.ts";
import { createPath } from "../router.ts";
import { CompareLink } from "./compare.tsx";

type OwnerProfile = Awaited<ReturnType<OwnerPages["read"]>>;

export function Owner({ owner, name }: { readonly owner: OwnerPages; readonly name: string }) {
  const { kind, roundedCount } = owner;
  const read = useRead(`${kind} ${name}`, (client) => owner.read(client, name));
  const labels = Object.entries(COUNT_LABELS[kind]);
  return (
    <Reading read={read}>
      {(details) => {
        const { id, counts, gains } = details;
        const figures = labels.map(([count, label]) => {
          const Figure = count === roundedCount ? RoundedCount : Count;
          return [label, <Figure value={readCount(counts, count)} />] as const;
        });
        return (
          <>
            <ProfileHead owner={owner} details={details} />
            <Figures items={[...figures, ...listGains(labels[0]?.[1] ?? "", gains)]} />
            <History
              name={`${kind} ${id}`}
              counts={COUNT_LABELS[kind]}
              gains={gains === undefined ? {} : { "7d": gains.weekly, "30d": gains.monthly }}
              open={(client, query) => owner.openHistory(client, [id], query)}
            />
            <Items owner={owner} id={id} />
          </>
        );
      }}
    </Reading>
  );
}

const RoundedCount = ({ value }: { readonly value: number | null }) => (
  <>
    <Count value={value} />
    {findRoundingStep([value]) > 0 && <small class="muted"> rounded by the source</small>}
  </>
);

function listGains(label: string, gains: OwnerProfile["gains"]) {
  if (gains === undefined) return [];
  return (["daily", "weekly", "monthly"] as const).map((period, index) => {
    const title = `${index === 0 ? `${label} in` : "In"} ${PERIOD_LABELS[period]}`;
    return [title, <Change value={gains[period]} />] as const;
  });
}

function ProfileHead({ owner, details }: Readonly<{ owner: OwnerPages; details: OwnerProfile }>) {
  const { name, username, note, since, description, comparedName } = details;
  return (
    <>
      <Heading text={name} />
      <p class="muted">
        <Text value={username} />
        {note !== null && [" · ", <Text value={note} />]}
        {since !== null && [" · since ", <Instant value={since} hasTime={false} />]}{" "}
        <CompareLink owner={owner} name={comparedName} />
      </p>
      <Description text={description} />
    </>
  );
}

const Description = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="description">
      <Text value={text} />
    </p>
  );

function Items({ owner, id }: { readonly owner: OwnerPages; readonly id: string }) {
  const { itemKind, itemPath } = owner;
  const { days, emptyText } = owner.items;
  const read = usePages(`${itemPath} ${id}`, (client) => owner.openItems(client, id));
  const title = getPluralLabel(itemKind);
  return (
    <section aria-labelledby={itemPath}>
      <h2 id={itemPath}>{days === undefined ? title : `${title} of the last ${days} days`}</h2>
      <Reading read={read}>
        {(list) => (
          <>
            <Table
              caption={describeLoaded(title, list)}
              columns={createColumns(owner, id, list.items)}
              items={list.items}
              getKey={(item) => item.id}
              empty={emptyText}
            />
            <MoreButton list={list} pageSize={PAGE_ITEMS} />
          </>
        )}
      </Reading>
    </section>
  );
}

function describeLoaded(name: string, { items, hasMore, total }: ListedPages<unknown>): string {
  const count = items.length;
  if (!hasMore) return `${name}: ${count}`;
  const all = total === undefined ? "there are more" : `of ${total}`;
  return `${name}: the newest ${count}, ${all}. Sorting orders these ${count}.`;
}

function createColumns(
  { path, itemKind, itemPath, items }: OwnerPages,
  owner: string,
  listed: readonly ListedItem[],
): Column<ListedItem>[] {
  const labels = COUNT_LABELS[itemKind];
  const likesColumn: Column<ListedItem> = {
    label: "Likes over time",
    render: ({ id, likes }) =>
      likes !== undefined && <Sparkline {...likes} label={`Likes of ${itemKind} ${id}`} />,
  };
  return [
    {
      label: KIND_LABELS[itemKind],
      ...(items.hasTitles && { field: "text" }),
      render: ({ id, text, publishedAt }) => (
        <>
          <a href={createPath(path, owner, itemPath, id)}>
            <Text value={text ?? id} />
          </a>
          <small class="narrow muted">
            <Instant value={publishedAt} hasTime={false} />
          </small>
        </>
      ),
    },
    { label: items.publishedLabel, as: "instant", isWide: true, field: "publishedAt" },
    ...items.counts.map((count): Column<ListedItem> => ({
      label: labels[count] ?? count,
      as: "count",
      getValue: ({ counts }) => readCount(counts, count),
    })),
    ...(listed.some(({ likes }) => likes !== undefined) ? [likesColumn] : []),
  ];
}

export function Item({
  owner,
  name,
  id,
}: Readonly<{ owner: OwnerPages; name: string; id: string }>) {
  const { path, itemKind, items } = owner;
  const read = useRead(`${itemKind} ${name} ${id}`, (client) => owner.readItem(client, name, id));
  return (
    <Reading read={read}>
      {({ ownerLabel, title, text, publishedAt, counts, ...item }) => {
        const description = <Description text={text} />;
        return (
          <>
            <p>
              <a href={createPath(path, name)}>
                ← <Text value={ownerLabel} />
              </a>
            </p>
            <Heading text={title} />
            {!items.hasTitles && description}
            <p class="muted">
              {items.publishedLabel} <Instant value={publishedAt} />
            </p>
            {items.hasTitles && description}
            <Figures
              items={Object.entries(COUNT_LABELS[itemKind]).map(([count, label]) => [
                label,
                <Count value={readCount(counts, count)} />,
              ])}
            />
            <History
              name={`${itemKind} ${item.id}`}
              counts={COUNT_LABELS[itemKind]}
              publishedAt={publishedAt}
              open={(client, query) => owner.openHistory(client, [name, id], query)}
            />
          </>
        );
      }}
    </Reading>
  );
}
