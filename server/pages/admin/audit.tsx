/** What administrators changed, newest first. */
import { Instant, Text } from "../parts/figures.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import type { AdminAuditEntry } from "./api.ts";
import { useAdminRead } from "./reads.ts";

const COLUMNS: Column<AdminAuditEntry>[] = [
  { label: "When", render: ({ at }) => <Instant value={at} /> },
  { label: "Who", render: ({ actor }) => <Text value={actor} /> },
  { label: "From", render: ({ origin }) => <Text value={origin} /> },
  { label: "What", render: ({ action }) => action },
  { label: "Target", render: ({ target }) => <Text value={target} /> },
  { label: "Details", render: ({ details }) => <Text value={formatDetails(details)} /> },
  { label: "Outcome", render: ({ outcome }) => outcome ?? "not known" },
];

function formatDetails(details: AdminAuditEntry["details"]): string {
  return Object.entries(details ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");
}

export function Audit() {
  const audit = useAdminRead<{ readonly entries: readonly AdminAuditEntry[] }>("audit?limit=100");
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Audit</h2>
      <Reading read={audit}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty>Nothing was changed yet.</Empty>
          ) : (
            <Table
              caption="The last 100 changes"
              columns={COLUMNS}
              items={entries}
              getKey={({ id }) => String(id)}
            />
          )
        }
      </Reading>
    </section>
  );
}
