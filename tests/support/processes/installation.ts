/** Installations that the command `doctor` diagnoses. */
import { Database } from "bun:sqlite";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckReport } from "../../../server/commands/doctor/diagnosis.ts";
import { hashDatabaseUrl } from "../../../server/composition/backups/database-id.ts";
import { formatBackupName } from "../../../server/composition/backups/kept-backups.ts";
import { openSandbox, type CommandResult, type Sandbox } from "./command-line.ts";

/** Prepares a database with an account, for installations that have a copy of it each. */
export async function prepareInstallations() {
  const prepared = await openSandbox();
  await prepared.runOrThrow("accounts", "create", "acme", "--credits", "50");
  const opened: Sandbox[] = [];
  return {
    /** Opens an installation with backups every night, and one of now. */
    async open(settings: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
      const folders = { BACKUP_FOLDER: "backups", SPOOL_FOLDER: "spool" };
      const sandbox = await openSandbox({ BACKUP_SCHEDULE: "0 3 * * *", ...folders, ...settings });
      opened.push(sandbox);
      await copyFile(prepared.file, sandbox.file);
      await writeBackup(sandbox, Date.now(), settings["DATABASE_URL"]);
      return sandbox;
    },

    /** Deletes the installations. */
    async clear(): Promise<void> {
      for (const sandbox of opened.splice(0)) await sandbox.close();
    },

    close: prepared.close,
  };
}

/** Writes what looks like a scheduled backup of a time. @param url Of the database. */
export function writeBackup(
  sandbox: Sandbox,
  time: number,
  url = `file:${sandbox.file}`,
): Promise<string> {
  return sandbox.write(join("backups", formatBackupName(hashDatabaseUrl(url), time)), "");
}

/** Changes a database that no service has. */
export function changeDatabase({ file }: Sandbox, statement: string): void {
  const database = new Database(file);
  database.run(statement);
  database.close();
}

/** Runs the command `doctor`. @param wrapper A command that runs it. */
export const diagnose = (sandbox: Sandbox, wrapper?: readonly string[]): Promise<CommandResult> =>
  sandbox.run(["doctor", "--json"], undefined, wrapper);

/** The findings of a diagnosis, each as `severity check: message -> action`. */
export function listFindings({ out }: CommandResult): string[] {
  const reports: CheckReport[] = JSON.parse(out);
  return reports.flatMap(({ check, findings }) =>
    findings.map(
      ({ severity, message, action }) => `${severity} ${check}: ${message} -> ${action}`,
    ),
  );
}
