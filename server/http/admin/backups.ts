/** The endpoints of backups: over HTTP into one folder, on the owner's socket anywhere. */
import { join, resolve, sep } from "node:path";
import { existsSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../../core/errors.ts";
import { strictObject } from "../../../core/resources/fields.ts";
import { formatInstant } from "../../../core/time.ts";
import type { BackupResult } from "../../store/database/backup.ts";
import { undefinedIfMissing } from "../../system-errors.ts";
import { DATABASE_FILE_TYPE, DatabaseFile } from "../endpoints/admin-endpoint.ts";
import * as schemas from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import { defineAdmin, type AdminOptions } from "./options.ts";

/** Matches the names of backups that are made over HTTP. */
const FILE_PATTERN = new RegExp(schemas.BackupName.pattern ?? "");

const NAME_ERROR = {
  "Invalid Request":
    "file must be a name of 1 to 100 letters, digits, dots, hyphens or underscores, which begins " +
    'with a letter or digit and does not end with .part, got "../a"',
} as const;
const NO_BACKUP = { "Not Found": "There is no backup nobody" } as const;

/**
 * The endpoints over HTTP. The client names a file, not a path: a token must not be worth access to
 * the file system.
 */
export const ADMIN_BACKUP_ENDPOINTS = [
  defineAdmin({
    method: "GET",
    path: "/admin/backups",
    document: {
      id: "adminListBackups",
      summary: "The backups",
      description: "The files in BACKUP_FOLDER, the newest first.",
    },
    result: { schema: schemas.BackupList, description: "The backups" },
    handle: ({ backupFolder }) => listBackups(backupFolder),
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/backups",
    document: {
      id: "adminBackUp",
      summary: "Make a backup",
      description:
        "Copies the database into a new file of BACKUP_FOLDER. Without a name, the file has one with " +
        "the time.",
      errors: {
        ...NAME_ERROR,
        Conflict: "before-upgrade.db already exists; name a new file",
      },
    },
    body: schemas.BackupRequest,
    result: { schema: schemas.Backup, description: "The new file", statuses: [201] },
    handle: async (options, { body, request }) => {
      const { backupFolder, now } = options;
      const file = body.file ?? createFileName(now());
      const { bytes } = await recordBackup(options, request, file, async () => {
        await mkdir(backupFolder, { recursive: true, mode: 0o700 });
        return options.backUp(join(backupFolder, file)).catch(hideFolder(backupFolder));
      });
      return { file, bytes };
    },
  }),
  defineAdmin({
    method: "DELETE",
    path: "/admin/backups",
    document: {
      id: "adminDeleteBackup",
      summary: "Delete a backup",
      description: "Permanently.",
      errors: { ...NAME_ERROR, ...NO_BACKUP },
    },
    body: schemas.BackupReference,
    result: { schema: schemas.BackupReference, description: "The backup is deleted" },
    handle: async (options, { body: { file }, request }) => {
      const backup = await findBackup(options.backupFolder, file);
      const change = { action: "backups delete", target: file } as const;
      await recordChange(options, request, change, async () => ({
        result: await undefinedIfMissing(backup.delete()),
      }));
      return { file };
    },
  }),
  defineAdmin({
    method: "GET",
    path: "/admin/backups/{file}",
    document: {
      id: "adminDownloadBackup",
      summary: "Download a backup",
      description:
        "The SQLite file. It has everything: the accounts, and the hashes of keys and tokens.",
      errors: NO_BACKUP,
    },
    parameters: { file: Type.String({ ...schemas.BackupName, examples: ["before-upgrade.db"] }) },
    result: { schema: DatabaseFile, description: "The file" },
    handle: async (options, { parameters: { file = "" }, request }) => {
      const backup = await findBackup(options.backupFolder, file);
      const change = { action: "backups download", target: file } as const;
      await recordChange(options, request, change, async () => ({ result: undefined }));
      return new Response(readChunks(backup), {
        headers: {
          "content-type": DATABASE_FILE_TYPE,
          "content-disposition": `attachment; filename="${file}"`,
        },
      });
    },
  }),
] as const;

/** The endpoint on the owner's socket, whose clients may write files anyway. */
export const OWNER_BACKUP_ENDPOINTS = [
  defineAdmin({
    method: "POST",
    path: "/admin/backup",
    body: strictObject({ file: Type.String({ minLength: 1, maxLength: 4096 }) }),
    result: { schema: schemas.Backup },
    handle: (options, { body: { file }, request }) =>
      recordBackup(options, request, file, () => options.backUp(file)),
  }),
] as const;

/** Creates the handler of a failed backup. Where the folder is does not concern the client. */
const hideFolder = (folder: string) => (error: unknown) => {
  if (!(error instanceof DomainError)) throw error;
  const message = error.message.replaceAll(`${resolve(folder)}${sep}`, "");
  throw new DomainError(error.code, message, { cause: error.cause });
};

/** Lists the backups of a folder, the newest first. One that is being made ends with `.part`. */
async function listBackups(folder: string) {
  const entries = existsSync(folder) ? await readdir(folder, { withFileTypes: true }) : [];
  const files = entries.filter((entry) => entry.isFile() && FILE_PATTERN.test(entry.name));
  const backups = await Promise.all(
    files.map(async ({ name }) => {
      const stats = await undefinedIfMissing(stat(join(folder, name)));
      if (stats === undefined) return []; // Deleted meanwhile.
      const { size, mtimeMs } = stats;
      return [{ file: name, bytes: size, created_at: formatInstant(Math.floor(mtimeMs)) }];
    }),
  );
  return backups.flat().toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

/** Reads a file. Bun would answer a request for a range of a `BunFile` with 206 or an empty 416. */
async function* readChunks(file: Bun.BunFile): AsyncGenerator<Uint8Array> {
  yield* file.stream();
}

/** @throws {DomainError} `Not Found`. */
async function findBackup(folder: string, file: string): Promise<Bun.BunFile> {
  const backup = Bun.file(join(folder, file));
  if (FILE_PATTERN.test(file) && (await backup.exists())) return backup;
  throw new DomainError("Not Found", `There is no backup ${file}`);
}

function recordBackup(
  options: AdminOptions,
  request: Request,
  file: string,
  backUp: () => Promise<BackupResult>,
): Promise<BackupResult> {
  return recordChange(options, request, { action: "backup", target: file }, async () => {
    const result = await backUp();
    return { result, details: { bytes: result.bytes } };
  });
}

/** The default name of a backup: `metrics-2026-11-21T030700Z.db`. */
function createFileName(now: number): string {
  return `metrics-${formatInstant(now).slice(0, 19).replaceAll(":", "")}Z.db`;
}
