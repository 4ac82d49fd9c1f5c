/** The account of the key: its balance and its usage. */
import type { UsageRow } from "../../../core/resources/mod.ts";
import { formatExact } from "../format.ts";
import { useFreeRead } from "../hooks.ts";
import { readAccount, setApiKey } from "../session.ts";
import { Chart } from "../parts/chart.tsx";
import { Count, Figures, Text } from "../parts/figures.tsx";
import { Heading } from "../parts/heading.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { DAY_MS } from "../../../core/time.ts";

const FIGURES: Column<UsageRow>[] = (["requests", "credits", "refunded"] as const).map((field) => ({
  label: field.charAt(0).toUpperCase() + field.slice(1),
  isNumeric: true,
  isWide: field === "refunded",
  getValue: (row: UsageRow) => row[field],
  render: (row: UsageRow) => <Count value={row[field]} />,
}));

export function Account() {
  const read = useFreeRead("account", readAccount);
  return (
    <>
      <Heading text="Account" />
      <Reading read={read}>
        {({ account: name, balance, usage }) => (
          <>
            <Figures
              items={[
                ["Account", <Text value={name} />],
                ["Credits left", formatExact(balance)],
                ["Used in 30 days", formatExact(sum(usage))],
              ]}
            />
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
          </>
        )}
      </Reading>
      <Groups by="endpoint" label="Endpoint" getName={({ endpoint = "" }) => endpoint} />
      <Groups
        by="key"
        label="Key"
        getName={({ key }) => key?.label ?? `${key?.begins_with ?? "?"}…`}
      />
      <p>
        <button type="button" onClick={() => setApiKey(null)}>
          Forget the key
        </button>{" "}
        <a class="button" href="/swagger">
          API reference
        </a>
      </p>
    </>
  );
}

function sum(usage: readonly UsageRow[]): number {
  return usage.reduce((total, { credits, refunded }) => total + credits - refunded, 0);
}

function Groups({
  by,
  label,
  getName,
}: {
  readonly by: string;
  readonly label: string;
  readonly getName: (row: UsageRow) => string;
}) {
  const read = useFreeRead(`account by ${by}`, ({ account }) => account({ by }));
  const columns: Column<UsageRow>[] = [
    { label, getValue: getName, render: (row) => <Text value={getName(row)} /> },
    ...FIGURES,
  ];
  return (
    <section aria-label={`Usage by ${by}`}>
      <h2>By {by}</h2>
      <Reading read={read}>
        {({ usage }) =>
          usage.length === 0 ? (
            <Empty>No request in the last 30 days.</Empty>
          ) : (
            <Table
              caption={`Usage of 30 days by ${by}`}
              columns={columns}
              items={usage}
              getKey={(row) => `${row.key?.id ?? ""}${row.endpoint ?? ""}`}
            />
          )
        }
      </Reading>
    </section>
  );
}
