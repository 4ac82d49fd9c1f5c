/** The usage of an account: a chart of its days, and a table by endpoint or by key. */
import { useState } from "preact/hooks";
import type { UsageRow } from "../../../core/resources/generated/types.ts";
import { DAY_MS } from "../../../core/time.ts";
import { findUnfinishedStart } from "../ranges.ts";
import { Chart } from "../charts/chart.tsx";
import { Below } from "./figures.tsx";
import { Empty } from "./states.tsx";
import { Table, type Column } from "./table.tsx";

/**
 * The credits of each day.
 *
 * @param label How long that is: `30 days`.
 */
export function UsageChart({
  usage,
  label,
}: {
  readonly usage: readonly UsageRow[];
  readonly label: string;
}) {
  // Usage is read anew whenever its page is opened.
  const [readAt] = useState(Date.now);
  if (usage.every(({ requests }) => requests === 0)) {
    return <Empty>No request was charged in {label}.</Empty>;
  }
  const instants = usage.map(({ day = "" }) => Date.parse(day));
  return (
    <Chart
      title="Credits used each day, less refunds"
      timeScale="utc"
      instants={instants}
      unfinishedFrom={findUnfinishedStart(instants, "day", readAt)}
      series={[
        { label: "Credits", values: usage.map(({ credits, refunded }) => credits - refunded) },
      ]}
      kind="bars"
      getGapMs={() => 1.5 * DAY_MS}
      fileName="usage.csv"
    />
  );
}

const FIGURES: readonly Column<UsageRow>[] = (["requests", "credits", "refunded"] as const).map(
  (field) => ({
    label: field.charAt(0).toUpperCase() + field.slice(1),
    as: "count",
    isWide: field === "refunded",
    getValue: (row: UsageRow) => row[field],
  }),
);

/** The first column of the table, by grouping. */
const GROUPS: Readonly<Record<"endpoint" | "key", Column<UsageRow>>> = {
  endpoint: { label: "Endpoint", getValue: ({ endpoint = "" }) => endpoint },
  key: {
    label: "Key",
    getValue: ({ key }) => key?.label ?? key?.begins_with ?? "",
    render: ({ key }) => <KeyName {...key} />,
  },
};

/** A key by how it begins, above its label. */
export function KeyName({
  begins_with = "?",
  label = null,
}: {
  readonly begins_with?: string;
  readonly label?: string | null;
}) {
  return (
    <>
      <code>{begins_with}…</code>
      <Below value={label} />
    </>
  );
}

/** The groups, with the greatest usage first; nothing without usage. */
export function UsageTable({
  by,
  usage,
}: {
  readonly by: keyof typeof GROUPS;
  readonly usage: readonly UsageRow[];
}) {
  if (usage.length === 0) return null;
  return (
    <Table
      caption={`By ${by}`}
      columns={[GROUPS[by], ...FIGURES]}
      items={usage.toSorted((a, b) => b.credits - a.credits)}
      getKey={(row) => `${row.key?.id ?? ""}${row.endpoint ?? ""}`}
    />
  );
}
