/** Metrics of an entity: gains, rates and estimates. They are read when the visitor asks for them. */
import type { ComponentChildren } from "preact";
import type { OwnerKind } from "../../../core/kinds.ts";
import { hasDerivedFigures } from "../derived-figures.ts";
import { formatNumberOf } from "../format.ts";
import { createPrice } from "../session.ts";
import { useRead } from "../hooks.ts";
import { COUNT_LABELS, PERIOD_LABELS } from "../labels.ts";
import { ITEM_PAGES } from "./item-pages.ts";
import { readItemMetrics, readOwnerMetrics, type OwnerMetrics as Metrics } from "./read-metrics.ts";
import { readCount, type OwnerPages } from "../owners/owner-pages.ts";
import { setParameters, useAddress } from "../router.ts";
import type { Read } from "../state-hooks.ts";
import { Change, Count, Figures, Instant, Percent } from "../parts/figures.tsx";
import { Button } from "../parts/form.tsx";
import { Multiple, Rate, Share } from "./item-figures.tsx";
import { Reading } from "../parts/states.tsx";

type Figure = readonly [label: string, value: ComponentChildren];

const PERIODS = ["daily", "weekly", "monthly"] as const;

/** Whether the address says that the metrics are shown: reloading it costs the same. */
const SHOWN = "shown";

const Offer = ({ label }: { readonly label: string }) => (
  <p class="row">
    <Button
      label={`Show ${label}${createPrice(1)}`}
      onClick={() => setParameters({ metrics: SHOWN }, { isReplaced: true })}
    />
  </p>
);

const useIsShown = () => useAddress().query.get("metrics") === SHOWN;

type OwnerReference = Readonly<{ kind: OwnerKind; id: string }>;

/** The gains of a channel or user in %, and what is estimated of it, if the visitor asks. */
export function OfferedMetrics({ kind, id }: OwnerReference) {
  const isShown = useIsShown();
  if (!hasDerivedFigures(kind)) return null;
  return isShown ? (
    <ShownMetrics kind={kind} id={id} />
  ) : (
    <Offer label="growth in % and projection" />
  );
}

export const useOwnerMetrics = ({ kind, id }: OwnerReference) =>
  useRead(["metrics", kind, id], (client) => readOwnerMetrics(client, kind, id));

function ShownMetrics({ kind, id }: OwnerReference) {
  return <OwnerMetrics kind={kind} read={useOwnerMetrics({ kind, id })} />;
}

/** Figures of metrics. Where derived ones are turned off, it shows only whether reading failed. */
export const OwnerMetrics = ({
  kind,
  read,
}: Readonly<{ kind: OwnerKind; read: Read<Metrics> }>) => (
  <Reading read={read}>
    {(metrics) => hasDerivedFigures(kind) && <OwnerFigures kind={kind} metrics={metrics} />}
  </Reading>
);

function OwnerFigures({ kind, metrics: read }: Readonly<{ kind: OwnerKind; metrics: Metrics }>) {
  const { metrics, gained, trend, projection, milestone } = read;
  const label = Object.values(COUNT_LABELS[kind])[0] ?? "";
  const gains = PERIODS.map((period, index): Figure => {
    const title = `${index === 0 ? `${label} in` : "In"} ${PERIOD_LABELS[period]}, in %`;
    return [title, <Percent value={readCount(metrics, `${period}${gained}Percent`)} />];
  });
  const trendFigure: Figure = [
    "A day, estimate",
    <>
      <Change value={trend?.perDay} />
      <small class="muted">through rounded counts</small>
    </>,
  ];
  const next: Figure = [
    "Next milestone",
    <>
      <Count value={projection?.milestone} />
      <small class="muted">
        {projection === null ? (
          "no estimate"
        ) : (
          <>
            estimate: <Instant value={projection.from} hasTime={false} /> –{" "}
            <Instant value={projection.to} hasTime={false} />
          </>
        )}
      </small>
    </>,
  ];
  return (
    <Figures
      items={[
        ...gains,
        ...(trend === null ? [] : [trendFigure]),
        next,
        ...(milestone === null ? [] : [createMilestone(milestone)]),
      ]}
    />
  );
}

const createMilestone = ({
  milestone,
  at,
}: Readonly<{ milestone: number; at: string }>): Figure => [
  "Last milestone",
  <>
    <Count value={milestone} />
    <small class="muted">
      <Instant value={at} hasTime={false} />
    </small>
  </>,
];

interface ItemMetricsProperties {
  readonly owner: OwnerPages;
  /** The name of the owner. */
  readonly name: string;
  readonly id: string;
}

export function ItemMetrics(properties: ItemMetricsProperties) {
  const isShown = useIsShown();
  if (!hasDerivedFigures(properties.owner.itemKind)) return null;
  return isShown ? (
    <ShownItemMetrics {...properties} />
  ) : (
    <Offer label="× median, rates and engagement" />
  );
}

function ShownItemMetrics({ owner: { itemKind }, name, id }: ItemMetricsProperties) {
  const read = useRead(["metrics", itemKind, name, id], (client) =>
    readItemMetrics(client, itemKind, name, id),
  );
  const { views, perHour, perDay } = ITEM_PAGES[itemKind];
  const label = COUNT_LABELS[itemKind][views] ?? views;
  return (
    <Reading read={read}>
      {({ metrics, comparison }) => (
        <Figures
          items={[
            [
              "× median at its age",
              <>
                <Multiple value={readCount(metrics, "ageMultiple")} />
                <small class="muted">
                  of {formatNumberOf(comparison?.comparedItems ?? 0, `earlier ${itemKind}`)}
                </small>
              </>,
            ],
            [`${label} an hour`, <Rate value={readCount(metrics, perHour)} />],
            [`${label} a day`, <Rate value={readCount(metrics, perDay)} />],
            ["Engagement", <Share value={readCount(metrics, "engagement")} />],
            ["Likes per view", <Share value={readCount(metrics, "likeRate")} />],
          ]}
        />
      )}
    </Reading>
  );
}
