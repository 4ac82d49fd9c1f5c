/** Home's milestones: round numbers that were passed in the week, and those that are near. */
import { hasDerivedFigures } from "../derived-figures.ts";
import { formatCompact, formatNumberOf } from "../format.ts";
import { findNearMilestones, findPassedMilestones, type Milestone } from "./movers.ts";
import { COUNT_LABELS } from "../labels.ts";
import type { OwnerPages, OwnerRow } from "../owners/owner-pages.ts";
import { OWNERS } from "../owners/owners.ts";
import { NameCell } from "../parts/figures.tsx";
import { Picture } from "../parts/picture.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createPath } from "../router.ts";

/** The rows of each table of home, which is looked at, and not searched. */
export const HOME_ROWS_MAX = 5;

export function Milestones({
  owners,
  isComplete,
}: Readonly<{
  owners: readonly Readonly<{ owner: OwnerPages; rows: readonly OwnerRow[] }>[];
  isComplete: boolean;
}>) {
  const passed = owners
    .flatMap(({ owner, rows }) => findPassedMilestones(owner, rows))
    .toSorted((a, b) => b.milestone - a.milestone);
  const near = owners
    .flatMap(({ owner, rows }) => findNearMilestones(owner, rows))
    .toSorted((a, b) => (a.days ?? 0) - (b.days ?? 0));
  if (owners.every(({ rows }) => rows.length === 0)) return null;
  const among = isComplete ? "" : " Of those that gained most alone.";
  const getKey = ({ owner, row }: Milestone) => `${owner.kind} ${row.id}`;
  return (
    <section>
      <h2>Milestones</h2>
      <div class="columns">
        <Table
          caption={`Passed in this week.${among}`}
          columns={[MILESTONE_NAME, MILESTONE, { label: "Now", as: "count", field: "count" }]}
          items={passed.slice(0, HOME_ROWS_MAX)}
          getKey={getKey}
          isSmall
          empty="No round number was passed in this week."
        />
        {OWNERS.some(({ kind }) => hasDerivedFigures(kind)) && (
          <Table
            caption={`Near: an estimate from the pace of 30 days.${among}`}
            columns={[
              MILESTONE_NAME,
              MILESTONE,
              {
                label: "In about",
                as: "exact",
                render: ({ days }) => formatNumberOf(Math.max(1, Math.round(days ?? 0)), "day"),
              },
            ]}
            items={near.slice(0, HOME_ROWS_MAX)}
            getKey={getKey}
            isSmall
            empty="At the pace of 30 days, no round number is reached within 30 days."
          />
        )}
      </div>
    </section>
  );
}

const MILESTONE_NAME: Column<Milestone> = {
  label: "Name",
  as: "name",
  render: ({ owner, row }) => (
    <NameCell
      href={createPath(owner.path, row.id)}
      name={row.name}
      picture={<Picture of={row.picture} name={row.name} />}
    />
  ),
};

const MILESTONE: Column<Milestone> = {
  label: "Milestone",
  as: "exact",
  render: ({ owner: { kind, listedCounts }, milestone }) =>
    `${formatCompact(milestone)} ${COUNT_LABELS[kind][listedCounts[0] ?? ""]?.toLowerCase()}`,
};
