/** The backups in the folder of the service: made, listed, downloaded and deleted. */
import { formatCompact } from "../../format.ts";
import { Button } from "../../parts/form.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { saveFile } from "../../save-file.ts";
import { describeFailure, downloadAdmin, sendAdmin } from "../api.ts";
import { Field, FieldForm, useDialog, type DialogForm } from "../forms.tsx";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminBackup } from "../resources.ts";

export const formatBytes = (bytes: number): string => `${formatCompact(bytes)}B`;

export function Backups() {
  const backups = useAdminRead<readonly AdminBackup[]>("backups");
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
  const columns: readonly Column<AdminBackup>[] = [
    { label: "File", getValue: ({ file }) => file },
    {
      label: "Size",
      as: "exact",
      getValue: ({ bytes }) => bytes,
      render: ({ bytes }) => formatBytes(bytes),
    },
    { label: "Made", as: "instant", getValue: ({ created_at }) => created_at },
    {
      label: "Actions",
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
