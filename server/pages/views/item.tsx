/** A short or tweet: its figures, its history and its rate of growth. */
import { useRead } from "../hooks.ts";
import { COUNT_LABELS } from "../labels.ts";
import { readCount, type OwnerPages } from "../owners/owner-pages.ts";
import { createPath } from "../router.ts";
import { Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { History } from "../parts/history.tsx";
import { Heading } from "../parts/heading.tsx";
import { Reading } from "../parts/states.tsx";

export function Item(properties: {
  readonly owner: OwnerPages;
  /** The owner's. */
  readonly name: string;
  readonly id: string;
}) {
  const { owner, name, id } = properties;
  const { path, itemKind, items } = owner;
  const read = useRead(`${itemKind} ${name} ${id}`, (client) => owner.readItem(client, name, id));
  return (
    <Reading read={read}>
      {({ ownerLabel, title, text, publishedAt, counts, ...item }) => {
        const description = text !== null && (
          <p class="description">
            <Text value={text} />
          </p>
        );
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
              open={(client, query) => owner.openItemHistory(client, [name, id], query)}
            />
          </>
        );
      }}
    </Reading>
  );
}
