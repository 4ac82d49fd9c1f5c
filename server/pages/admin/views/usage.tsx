/** What an account used: by day, by endpoint and by key. */
import type { AccountDetails, UsageRow } from "../../../../core/resources/mod.ts";
import { DAY_MS, formatInstant } from "../../../../core/time.ts";
import { Chart } from "../../parts/chart.tsx";
import { Count, Text } from "../../parts/figures.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createFragment } from "../address.ts";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";

/** The ranges, in days. */
const RANGES = [
  ["", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
] as const;

const FIGURES: readonly Column<UsageRow>[] = (["requests", "credits", "refunded"] as const).map(
  (field) => ({
    label: field.charAt(0).toUpperCase() + field.slice(1),
    isNumeric: true,
    getValue: (row: UsageRow) => row[field],
    render: (row: UsageRow) => <Count value={row[field]} />,
  }),
);

export function Usage({
  account,
  query,
}: {
  readonly account: string;
  readonly query: URLSearchParams;
}) {
  const [days, label] = RANGES.find(([value]) => value === query.get("days")) ?? RANGES[0];
  const from = formatInstant(Date.now() - (Number(days || 30) - 1) * DAY_MS).slice(0, 10);
  const path = `usage?${new URLSearchParams({ account, from })}`;
  const byDay = useAdminRead<AccountDetails>(path);
  return (
    <section aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <nav class="row" aria-label="Range of usage">
        {RANGES.map(([value, text]) => (
          <a
            key={value}
            href={createFragment("accounts", account, { days: value })}
            aria-current={value === days ? "true" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      <Reading read={byDay}>
        {({ usage }) =>
          usage.every(({ requests }) => requests === 0) ? (
            <Empty>No request was charged in {label}.</Empty>
          ) : (
            <>
              <Chart
                title="Credits used each day, less refunds"
                instants={usage.map(({ day = "" }) => Date.parse(day))}
                series={[
                  {
                    label: "Credits",
                    values: usage.map(({ credits, refunded }) => credits - refunded),
                  },
                ]}
                kind="bars"
                getGapMs={() => 1.5 * DAY_MS}
                fileName="usage.csv"
              />
              <div class="columns">
                <Groups
                  path={path}
                  by="endpoint"
                  label="Endpoint"
                  getName={({ endpoint = "" }) => endpoint}
                />
                <Groups path={path} by="key" label="Key" getName={getKeyName} />
              </div>
            </>
          )
        }
      </Reading>
    </section>
  );
}

const getKeyName = ({ key }: UsageRow): string =>
  `${key?.begins_with ?? "?"}…${key?.label == null ? "" : ` ${key.label}`}`;

function Groups({
  path,
  by,
  label,
  getName,
}: {
  readonly path: string;
  readonly by: string;
  readonly label: string;
  readonly getName: (row: UsageRow) => string;
}) {
  const read = useAdminRead<AccountDetails>(`${path}&by=${by}`);
  const columns: Column<UsageRow>[] = [
    { label, getValue: getName, render: (row) => <Text value={getName(row)} /> },
    ...FIGURES,
  ];
  return (
    <Reading read={read}>
      {({ usage }) => (
        <Table
          caption={`By ${by}`}
          columns={columns}
          items={usage.toSorted((a, b) => b.credits - a.credits)}
          getKey={(row) => `${row.key?.id ?? ""}${row.endpoint ?? ""}`}
        />
      )}
    </Reading>
  );
}
