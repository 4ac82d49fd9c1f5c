/** The usage of an account: a chart of its days, tables by endpoint and key, and names of keys. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { UsageRow } from "../../../core/resources/generated/types.ts";
import { DAY_MS } from "../../../core/time.ts";
import { Charts } from "../charts/charts.tsx";
import { createTimeAxis } from "../ranges.ts";
import { Below } from "./figures.tsx";
import { Empty } from "./states.tsx";
import { Table, type Column } from "./table.tsx";

type Usage = readonly UsageRow[];

const FIGURES: readonly Column<UsageRow>[] = [
  { label: "Requests", as: "count", field: "requests" },
  { label: "Credits", as: "count", field: "credits" },
  { label: "Refunded", as: "count", field: "refunded", isWide: true },
];

const GROUPS = {
  endpoint: { label: "Endpoint", getValue: ({ endpoint = "" }) => endpoint },
  key: {
    label: "Key",
    getValue: ({ key }) => key?.label ?? key?.begins_with ?? "",
    render: ({ key }) => <KeyName {...key} />,
  },
} as const satisfies Readonly<Record<string, Column<UsageRow>>>;

type Grouping = keyof typeof GROUPS;

export function UsageOfDays({
  usage,
  label,
  isShareable = false,
  renderGroups,
}: Readonly<{
  usage: Usage;
  label: string;
  isShareable?: boolean;
  renderGroups: (by: Grouping) => ComponentChildren;
}>) {
  // Usage is read anew whenever its page is opened.
  const [readAt] = useState(Date.now);
  const days = usage.map(({ day = "" }) => ({ timestamp: day }));
  return (
    <>
      {usage.every(({ requests }) => requests === 0) ? (
        <Empty>No request was charged in {label}.</Empty>
      ) : (
        <Charts
          {...createTimeAxis({ interval: "day", stepMs: DAY_MS }, days, readAt)}
          charts={[
            {
              title: "Credits used each day, less refunds",
              series: [
                {
                  label: "Credits",
                  values: usage.map(({ credits, refunded }) => credits - refunded),
                },
              ],
              kind: "bars",
            },
          ]}
          fileName="usage"
          isShareable={isShareable}
        />
      )}
      <div class="columns">
        {renderGroups("endpoint")}
        {renderGroups("key")}
      </div>
    </>
  );
}

export function UsageTable({ by, usage }: { readonly by: Grouping; readonly usage: Usage }) {
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

export const KeyName = ({
  begins_with = "?",
  label = null,
}: Partial<NonNullable<UsageRow["key"]>>) => (
  <>
    <code>{begins_with}…</code>
    <Below value={label} />
  </>
);
