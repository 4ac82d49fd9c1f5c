/** The page of a channel or user with its items, and of a short or tweet: figures and history. */
import type { ComponentChildren } from "preact";
import { findRoundingStep } from "../../../core/metrics/rounded-counts.ts";
import { useRead } from "../hooks.ts";
import { COUNT_LABELS, PERIOD_LABELS } from "../labels.ts";
import {
  readCount,
  type Gains,
  type OwnerPages,
  type OwnerProfile,
} from "../owners/owner-pages.ts";
import { CompareWithLast } from "../items/compare-with-last.tsx";
import { Change, Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { ExternalLink } from "../parts/external-link.tsx";
import { Heading } from "../parts/frame.tsx";
import { History } from "../parts/history.tsx";
import { ItemMetrics, OfferedMetrics, OwnerMetrics, useOwnerMetrics } from "../items/metrics.tsx";
import { Picture } from "../parts/picture.tsx";
import { Reading } from "../parts/states.tsx";
import { createPath } from "../router.ts";
import { CompareLink } from "./compare.tsx";
import { Items, useItems } from "../items/item-table.tsx";

export function Owner({ owner, name }: { readonly owner: OwnerPages; readonly name: string }) {
  const { kind } = owner;
  const read = useRead(["details", kind, name], (client) => owner.read(client, name));
  return (
    <Reading read={read}>
      {(details) =>
        details.gains === undefined ? (
          <ProfileWithMetrics owner={owner} details={details} />
        ) : (
          <Profile owner={owner} details={details} gains={details.gains}>
            <OfferedMetrics kind={kind} id={details.id} />
          </Profile>
        )
      }
    </Reading>
  );
}

type ProfileProperties = Readonly<{ owner: OwnerPages; details: OwnerProfile }>;

/** A profile whose gains come with the metrics. It is shown before these are read. */
function ProfileWithMetrics({ owner, details }: ProfileProperties) {
  const { kind } = owner;
  const read = useOwnerMetrics({ kind, id: details.id });
  return (
    <Profile owner={owner} details={details} gains={read.value?.gains}>
      <OwnerMetrics kind={kind} read={read} />
    </Profile>
  );
}

/** @param properties Without gains, they are shown as unknown. The children are the metrics. */
function Profile({
  owner,
  details,
  gains,
  children,
}: ProfileProperties & Readonly<{ gains: Gains | undefined; children: ComponentChildren }>) {
  const { kind, roundedCount } = owner;
  const { id, counts } = details;
  const labels = Object.entries(COUNT_LABELS[kind]);
  const figures = labels.map(([count, label]) => {
    const Figure = count === roundedCount ? RoundedCount : Count;
    return [label, <Figure value={readCount(counts, count)} />] as const;
  });
  return (
    <>
      <ProfileHead owner={owner} details={details} />
      <Figures items={[...figures, ...listGains(labels[0]?.[1] ?? "", gains)]} />
      <History
        kind={kind}
        ids={[id]}
        counts={COUNT_LABELS[kind]}
        gains={{ "7d": gains?.weekly ?? null, "30d": gains?.monthly ?? null }}
        open={owner.openHistory}
      />
      {children}
      <Items owner={owner} id={id} />
    </>
  );
}

const RoundedCount = ({ value }: { readonly value: number | null }) => (
  <>
    <Count value={value} />
    {findRoundingStep([value]) > 0 && <small class="muted"> rounded by the source</small>}
  </>
);

function listGains(label: string, gains: Gains | undefined) {
  return (["daily", "weekly", "monthly"] as const).map((period, index) => {
    const title = `${index === 0 ? `${label} in` : "In"} ${PERIOD_LABELS[period]}`;
    return [title, <Change value={gains?.[period]} />] as const;
  });
}

function ProfileHead({ owner, details }: ProfileProperties) {
  const { name, username, note, since, observedAt, description, picture } = details;
  return (
    <>
      <Heading
        text={name}
        picture={<Picture of={picture} name={name} />}
        below={
          <p class="muted">
            <Text value={username} />
            {note !== null && [" · ", <Text value={note} />]}
            {since !== null && [" · since ", <Instant value={since} hasTime={false} />]}
            <LastObserved at={observedAt} />
            <OwnerLink owner={owner} id={details.id} />
          </p>
        }
      >
        <CompareLink pages={owner} owner={details} />
      </Heading>
      <Description text={description} />
    </>
  );
}

/** The items are those of the table below, which is read once. */
function OwnerLink({ owner, id }: { readonly owner: OwnerPages; readonly id: string }) {
  const { value: list } = useItems(owner, id).read;
  const link = owner.findLink(id, list?.items ?? []);
  return link === undefined ? null : (
    <>
      {" · "}
      <ExternalLink link={link} />
    </>
  );
}

const LastObserved = ({ at }: { readonly at: string | null }) =>
  at === null ? null : (
    <>
      {" · last observed "}
      <Instant value={at} />
    </>
  );

const Description = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="description">
      <Text value={text} />
    </p>
  );

export function Item({
  owner,
  name,
  id,
}: Readonly<{ owner: OwnerPages; name: string; id: string }>) {
  const { path, itemKind, items } = owner;
  const read = useRead(["details", itemKind, name, id], (client) =>
    owner.readItem(client, name, id),
  );
  return (
    <Reading read={read}>
      {({ ownerLabel, title, text, publishedAt, counts, ...item }) => {
        const description = <Description text={text} />;
        return (
          <>
            <a class="back" href={createPath(path, name)}>
              ← <Text value={ownerLabel} />
            </a>
            <Heading
              text={title}
              picture={<Picture of={item.picture} name={items.hasTitles ? title : ownerLabel} />}
              below={
                <p class="muted">
                  {items.publishedLabel} <Instant value={publishedAt} />
                  <LastObserved at={item.observedAt} /> <ExternalLink link={item.link} />
                </p>
              }
            >
              <CompareWithLast owner={owner} name={name} id={id} />
            </Heading>
            {description}
            <Figures
              items={Object.entries(COUNT_LABELS[itemKind]).map(([count, label]) => [
                label,
                <Count value={readCount(counts, count)} />,
              ])}
            />
            <ItemMetrics owner={owner} name={name} id={item.id} />
            <History
              kind={itemKind}
              ids={[name, item.id]}
              counts={COUNT_LABELS[itemKind]}
              publishedAt={publishedAt}
              open={owner.openHistory}
            />
          </>
        );
      }}
    </Reading>
  );
}
