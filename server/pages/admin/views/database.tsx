/** The database: its size, its entities by kind, backups, and the check of the ledger. */
import { useState } from "preact/hooks";
import type { LedgerVerification } from "../../../store/accounts/verify-ledger.ts";
import { formatExact } from "../../format.ts";
import { Count, Figures, Text } from "../../parts/figures.tsx";
import { Badge } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { sendAdmin } from "../api.ts";
import { FieldForm } from "../forms.tsx";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminStatus } from "../resources.ts";
import { Backups, formatBytes } from "./backups.tsx";

type Kind = AdminStatus["kinds"][number];

const COLUMNS: readonly Column<Kind>[] = [
  { label: "Kind", render: ({ kind }) => kind },
  { label: "Entities", as: "count", getValue: ({ entities }) => entities },
  {
    label: "Observations",
    as: "count",
    render: ({ observations, is_estimated }) => (
      <>
        {is_estimated && "about "}
        <Count value={observations} />
      </>
    ),
  },
  { label: "Newest", as: "instant", getValue: ({ newest }) => newest },
];

export function Database() {
  const status = useAdminRead<AdminStatus>("status");
  return (
    <>
      <h1>Database</h1>
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
                ["Size", bytes === null ? "unknown" : formatBytes(bytes)],
                ["Survives", durability === "power" ? "a power cut" : "a crash of the process"],
                ["Where", <Text value={url} />],
              ]}
            />
            <Table
              caption="What is stored"
              columns={COLUMNS}
              items={kinds}
              getKey={({ kind }) => kind}
              isSortable={false}
            />
          </>
        )}
      </Reading>
      <div class="columns">
        <Backups />
        <Verification />
      </div>
    </>
  );
}

function Verification() {
  const [result, setResult] = useState<LedgerVerification>();
  return (
    <section aria-labelledby="verification-title">
      <h2 id="verification-title">Ledger</h2>
      <p>Adds up all grants, debits and refunds, and compares the sums with the balances.</p>
      <FieldForm
        label="Verify"
        onSubmit={async () => {
          const verified = await sendAdmin<LedgerVerification>("GET", "verification");
          setResult(verified);
          const { accounts, entries } = verified;
          return `${formatExact(entries)} entries of ${formatExact(accounts)} accounts are checked.`;
        }}
      />
      {result !== undefined && (
        <p>
          {result.faults.length === 0 ? (
            <Badge kind="good">no fault</Badge>
          ) : (
            <Badge kind="bad">{result.faults.length} faults</Badge>
          )}
        </p>
      )}
      {result !== undefined && result.faults.length > 0 && (
        <ul>
          {result.faults.map(({ account, problem }) => (
            <li key={account}>
              <Text value={account} />: {problem}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
