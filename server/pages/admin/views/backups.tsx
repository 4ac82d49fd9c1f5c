/** The backups in the folder of the service: made, listed, downloaded and deleted. */
import { useState } from "preact/hooks";
import { formatCompact } from "../../format.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { saveFile } from "../../save-file.ts";
import { describeFailure, downloadAdmin, sendAdmin } from "../api.ts";
import { Field, FieldForm, FormDialog, Message } from "../forms.tsx";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminBackup } from "../resources.ts";

export const formatBytes = (bytes: number): string => `${formatCompact(bytes)}B`;

export function Backups() {
  const backups = useAdminRead<readonly AdminBackup[]>("backups");
  const [removed, setRemoved] = useState<string>();
  const [message, setMessage] = useState<{ text: string; isFailure: boolean }>();
  const download = async (file: string) => {
    setMessage({ text: `${file} is downloaded…`, isFailure: false });
    try {
      saveFile(file, await downloadAdmin(`backups/${file}`));
      setMessage({ text: `${file} is saved.`, isFailure: false });
    } catch (error) {
      setMessage({ text: describeFailure(error), isFailure: true });
    }
  };
  return (
    <section aria-labelledby="backup-title">
      <h2 id="backup-title">Backups</h2>
      <p>
        Writes a copy into <code>BACKUP_FOLDER</code> of the service, while it serves.
      </p>
      <FieldForm
        label="Back up"
        onSubmit={async ({ file }) => {
          const made = await sendAdmin<Pick<AdminBackup, "file" | "bytes">>("POST", "backups", {
            file,
          });
          backups.reload();
          return `${made.file} is written: ${formatBytes(made.bytes)}.`;
        }}
      >
        <Field name="file" label="File" hint="Else named after the time" size={24} />
      </FieldForm>
      <Message {...message} />
      <Reading read={backups}>
        {(all) =>
          all.length === 0 ? (
            <Empty>There is no backup in the folder yet.</Empty>
          ) : (
            <Table
              caption={`Backups: ${all.length}`}
              columns={createColumns((file) => void download(file), setRemoved)}
              items={all}
              getKey={({ file }) => file}
            />
          )
        }
      </Reading>
      {removed !== undefined && (
        <FormDialog
          title={
            <>
              Delete <Text value={removed} />?
            </>
          }
          submitLabel="Delete"
          isDangerous
          onSubmit={async () => {
            await sendAdmin("DELETE", "backups", { file: removed });
            return `${removed} is deleted.`;
          }}
          onDone={(text) => {
            setMessage({ text, isFailure: false });
            backups.reload();
          }}
          onClose={() => setRemoved(undefined)}
        >
          <p>The file is deleted permanently.</p>
        </FormDialog>
      )}
    </section>
  );
}

function createColumns(
  download: (file: string) => void,
  remove: (file: string) => void,
): Column<AdminBackup>[] {
  return [
    { label: "File", getValue: ({ file }) => file, render: ({ file }) => <Text value={file} /> },
    {
      label: "Size",
      isNumeric: true,
      getValue: ({ bytes }) => bytes,
      render: ({ bytes }) => formatBytes(bytes),
    },
    {
      label: "Made",
      getValue: ({ created_at }) => created_at,
      render: ({ created_at }) => <Instant value={created_at} />,
    },
    {
      label: "Actions",
      render: ({ file }) => (
        <>
          <button type="button" aria-label={`Download ${file}`} onClick={() => download(file)}>
            Download
          </button>{" "}
          <button type="button" aria-label={`Delete ${file}`} onClick={() => remove(file)}>
            Delete
          </button>
        </>
      ),
    },
  ];
}
