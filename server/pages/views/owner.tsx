/** A channel or user: the figures, the history, and the shorts or tweets. */
import { usePages, useRead } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS, PERIOD_LABELS } from "../labels.ts";
import {
  PAGE_ITEMS,
  readCount,
  type ListedItem,
  type OwnerProfile,
  type OwnerPages,
} from "../owners/owner-pages.ts";
import { createPath } from "../router.ts";
import { CompareLink } from "../parts/compare-link.tsx";
import { describeLoaded, MoreButton } from "../parts/controls.tsx";
import { Change, Count, Figures, Instant, RoundedCount, Text } from "../parts/figures.tsx";
import { History } from "../parts/history.tsx";
import { Heading } from "../parts/heading.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { Sparkline } from "../charts/sparkline.tsx";

export function Owner({ owner, name }: { readonly owner: OwnerPages; readonly name: string }) {
  const { kind, roundedCount } = owner;
  const read = useRead(`${kind} ${name}`, (client) => owner.read(client, name));
  const labels = Object.entries(COUNT_LABELS[kind]);
  return (
    <Reading read={read}>
      {(details) => {
        const { id, counts, gains } = details;
        return (
          <>
            <ProfileHead owner={owner} details={details} />
            <Figures
              items={[
                ...labels.map(([count, label]) => {
                  const Cell = count === roundedCount ? RoundedCount : Count;
                  return [label, <Cell value={readCount(counts, count)} />] as const;
                }),
                ...(gains === undefined ? [] : listGains(labels[0]?.[1] ?? "", gains)),
              ]}
            />
            <History
              name={`${kind} ${id}`}
              counts={COUNT_LABELS[kind]}
              gains={gains === undefined ? {} : { "7d": gains.weekly, "30d": gains.monthly }}
              open={(client, query) => owner.openHistory(client, id, query)}
            />
            <Items owner={owner} id={id} />
          </>
        );
      }}
    </Reading>
  );
}

/** The gains of a count as figures: the first one names it. */
function listGains(label: string, gains: NonNullable<OwnerProfile["gains"]>) {
  return (["daily", "weekly", "monthly"] as const).map(
    (period, index) =>
      [
        `${index === 0 ? `${label} in` : "In"} ${PERIOD_LABELS[period]}`,
        <Change value={gains[period]} />,
      ] as const,
  );
}

function ProfileHead({
  owner,
  details: { name, username, note, since, description, comparedName },
}: {
  readonly owner: OwnerPages;
  readonly details: OwnerProfile;
}) {
  return (
    <>
      <Heading text={name} />
      <p class="muted">
        <Text value={username} />
        {note !== null && (
          <>
            {" · "}
            <Text value={note} />
          </>
        )}
        {since !== null && (
          <>
            {" · since "}
            <Instant value={since} hasTime={false} />
          </>
        )}{" "}
        <CompareLink owner={owner} name={comparedName} />
      </p>
      {description !== null && (
        <p class="description">
          <Text value={description} />
        </p>
      )}
    </>
  );
}

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
              columns={createColumns(owner, id)}
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

function createColumns(owner: OwnerPages, ownerId: string): Column<ListedItem>[] {
  const { path, itemKind, itemPath, items } = owner;
  const labels: Readonly<Record<string, string>> = COUNT_LABELS[itemKind];
  return [
    {
      label: KIND_LABELS[itemKind],
      ...(items.hasTitles && { getValue: ({ text }: ListedItem) => text }),
      render: ({ id, text, publishedAt }) => (
        <>
          <a href={createPath(path, ownerId, itemPath, id)}>
            <Text value={text ?? id} />
          </a>
          <small class="narrow muted">
            <Instant value={publishedAt} hasTime={false} />
          </small>
        </>
      ),
    },
    {
      label: items.publishedLabel,
      as: "instant",
      isWide: true,
      getValue: ({ publishedAt }) => publishedAt,
    },
    ...items.counts.map((count) => ({
      label: labels[count] ?? count,
      as: "count" as const,
      getValue: ({ counts }: ListedItem) => readCount(counts, count),
    })),
    ...(items.hasLikes
      ? [
          {
            label: "Likes over time",
            render: ({ id, likes }: ListedItem) =>
              likes !== undefined && <Sparkline {...likes} label={`Likes of ${itemKind} ${id}`} />,
          },
        ]
      : []),
  ];
}
