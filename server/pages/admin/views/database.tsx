/** The database: its size, its entities by kind, its backups, and the check of the ledger. */
import { useState } from "preact/hooks";
import { formatCompact, formatExact } from "../../format.ts";
import { Count, Figures, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Badge } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { saveFile } from "../../save-file.ts";
import { describeFailure, downloadAdmin, sendAdmin, type Resource } from "../api.ts";
import { Field, FieldForm, useDialog, type DialogForm } from "../forms.tsx";
import { Reading, useAdminRead } from "../reading.tsx";

type Status = Resource<"ServiceStatus">;
type Backups = Resource<"BackupList">;
type Verification = Resource<"Verification">;

const formatBytes = (bytes: number): string => `${formatCompact(bytes)}B`;

const KIND_COLUMNS: readonly Column<Status["kinds"][number]>[] = [
  { label: "Kind", render: ({ kind }) => kind },
  { label: "Entities", as: "count", field: "entities" },
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
  { label: "Newest", as: "instant", field: "newest" },
];

export function Database() {
  const status = useAdminRead<Status>("status");
  return (
    <>
      <PageHead title="Database" />
      <Reading read={status}>
        {({
          database: { url, entities_url: entities, replica, bytes, durability, outage },
          kinds,
        }) => (
          <>
            {outage !== null && (
              <p role="alert" class="loss">
                It does not answer: {outage}
              </p>
            )}
            <Figures
              items={[
                ["Size", formatBytes(bytes)],
                ["Survives", durability === "power" ? "a power cut" : "a crash of the process"],
                ["Where", <Text value={url} />],
                ...(entities === null ? [] : [["Entities", <Text value={entities} />] as const]),
                ...(replica === null ? [] : [["Replica", <Text value={replica} />] as const]),
              ]}
            />
            <Table
              caption="What is stored"
              columns={KIND_COLUMNS}
              items={kinds}
              getKey={({ kind }) => kind}
              isSortable={false}
            />
          </>
        )}
      </Reading>
      <div class="columns">
        <BackupSection />
        <LedgerSection />
      </div>
    </>
  );
}

function BackupSection() {
  const backups = useAdminRead<Backups>("backups");
  const { open, dialog, message, say } = useDialog(backups.reload);
  const download = async (file: string) => {
    say({ text: `${file} is downloaded…`, isFailure: false });
    try {
      saveFile(file, await downloadAdmin(`backups/${file}`));
      say({ text: `${file} is saved.`, isFailure: false });
    } catch (error) {
      say({ text: describeFailure(error), isFailure: true });
    }
  };
  const columns: readonly Column<Backups[number]>[] = [
    { label: "File", field: "file" },
    { label: "Size", as: "exact", field: "bytes", render: ({ bytes }) => formatBytes(bytes) },
    { label: "Made", as: "instant", field: "created_at" },
    {
      label: "Actions",
      as: "action",
      render: ({ file }) => (
        <>
          <Button label="Download" about={`Download ${file}`} onClick={() => void download(file)} />{" "}
          <Button
            label="Delete"
            about={`Delete ${file}`}
            onClick={() => open(createDeletionForm(file))}
          />
        </>
      ),
    },
  ];
  return (
    <section aria-labelledby="backup-title">
      <h2 id="backup-title">Backups</h2>
      <p>
        Writes a copy into <code>BACKUP_FOLDER</code> of the service, while it serves.
      </p>
      <FieldForm
        label="Back up"
        look="primary"
        onSubmit={async ({ file }) => {
          const made = await sendAdmin<Resource<"Backup">>("POST", "backups", { file });
          backups.reload();
          return `${made.file} is written: ${formatBytes(made.bytes)}.`;
        }}
      >
        <Field name="file" label="File" hint="Else named after the time" size={24} />
      </FieldForm>
      {message}
      <Reading read={backups}>
        {(all) => (
          <Table
            caption={`Backups: ${all.length}`}
            columns={columns}
            items={all}
            getKey={({ file }) => file}
            empty="There is no backup in the folder yet."
          />
        )}
      </Reading>
      {dialog}
    </section>
  );
}

const createDeletionForm = (file: string): DialogForm => ({
  title: ["Delete ", file, "?"],
  submitLabel: "Delete",
  isDangerous: true,
  content: <p>The file is deleted permanently.</p>,
  async onSubmit() {
    await sendAdmin("DELETE", "backups", { file });
    return `${file} is deleted.`;
  },
});

function LedgerSection() {
  const [result, setResult] = useState<Verification>();
  const { faults = [] } = result ?? {};
  return (
    <section aria-labelledby="verification-title">
      <h2 id="verification-title">Ledger</h2>
      <p>Adds up all grants, debits and refunds, and compares the sums with the balances.</p>
      <FieldForm
        label="Verify"
        onSubmit={async () => {
          const verified = await sendAdmin<Verification>("GET", "verification");
          setResult(verified);
          const { accounts, entries } = verified;
          return `${formatExact(entries)} entries of ${formatExact(accounts)} accounts are checked.`;
        }}
      />
      {result !== undefined && (
        <p>
          <Badge
            kind={faults.length === 0 ? "good" : "bad"}
            word={faults.length === 0 ? "no fault" : `${faults.length} faults`}
          />
        </p>
      )}
      {faults.length > 0 && (
        <ul>
          {faults.map(({ account, problem }) => (
            <li key={account}>
              <Text value={account} />: {problem}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
