/** The database: its size, and what is stored of each kind. */
import { formatCompact } from "../format.ts";
import { Count, Figures, Instant, Text } from "../parts/figures.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import type { AdminStatus } from "./api.ts";
import type { AdminRead } from "./reads.ts";

type Kind = AdminStatus["kinds"][number];

const COLUMNS: Column<Kind>[] = [
  { label: "Kind", render: ({ kind }) => kind },
  { label: "Entities", isNumeric: true, render: ({ entities }) => <Count value={entities} /> },
  {
    label: "Observations",
    isNumeric: true,
    render: ({ observations, is_estimated }) => (
      <>
        {is_estimated && "about "}
        <Count value={observations} />
      </>
    ),
  },
  { label: "Newest", render: ({ newest }) => <Instant value={newest} /> },
];

export function Database({ status }: { readonly status: AdminRead<AdminStatus> }) {
  return (
    <section aria-labelledby="database">
      <h2 id="database">Database</h2>
      <Reading read={status}>
        {({ database: { url, bytes, durability, outage }, kinds }) => (
          <>
            {outage !== null && (
              <p role="alert" class="loss">
                It does not answer: {outage}
              </p>
            )}
            <Figures
              items={[
                ["Where", <Text value={url} />],
                ["Size", bytes === null ? "unknown" : `${formatCompact(bytes)}B`],
                ["Safe after", durability === "power" ? "a power cut" : (durability ?? "unknown")],
              ]}
            />
            <Table
              caption="What is stored"
              columns={COLUMNS}
              items={kinds}
              getKey={({ kind }) => kind}
            />
          </>
        )}
      </Reading>
    </section>
  );
}
