/** Administration endpoints of the backups in BACKUP_FOLDER: list, make, delete and download. */
import { join, resolve, sep } from "node:path";
import { existsSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../../core/errors.ts";
import { formatInstant } from "../../../core/time.ts";
import { undefinedIfMissing } from "../../system-errors.ts";
import { defineAdmin } from "./endpoint.ts";
import { resource, RESOURCES } from "./resources.ts";

const FILE_PATTERN = /^(?!.*\.part$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

const FILE_RULE =
  "name of 1 to 100 letters, digits, dots, hyphens or underscores, which begins with a letter or " +
  "digit and does not end with .part";

const FileName = Type.String({ pattern: FILE_PATTERN.source, description: `A ${FILE_RULE}` });
const Reference = resource("BackupReference", { file: FileName });

const FILE_TYPE = "application/vnd.sqlite3";
const NAME_ERROR = { "Invalid Request": `file must be a ${FILE_RULE}, got "../a"` };
const NO_BACKUP = { "Not Found": "There is no backup nobody" } as const;

/** The client names a file, not a path: a token must not be worth access to the file system. */
export const ADMIN_BACKUP_ENDPOINTS = [
  defineAdmin({
    id: "adminListBackups",
    operation: "GET /admin/backups",
    summary: "The backups",
    description: "The files in BACKUP_FOLDER, the newest first.",
    result: { schema: RESOURCES.BackupList, description: "The backups" },
    handle: ({ backupFolder }) => listBackups(backupFolder),
  }),
  defineAdmin({
    id: "adminBackUp",
    operation: "POST /admin/backups",
    summary: "Make a backup",
    description:
      "Copies the database into a new file of BACKUP_FOLDER. Without a name, the file has one with " +
      "the time.",
    errors: { ...NAME_ERROR, Conflict: "before-upgrade.db already exists; name a new file" },
    body: Type.Partial(Reference, { $id: "BackupRequest" }),
    result: { schema: RESOURCES.Backup, description: "The new file", statuses: [201] },
    handle: async ({ backupFolder, backUp, now }, { body, record }) => {
      const time = formatInstant(now()).slice(0, 19).replaceAll(":", "");
      const { file = `metrics-${time}Z.db` } = body;
      const makeBackup = async () => {
        await mkdir(backupFolder, { recursive: true, mode: 0o700 });
        return backUp(join(backupFolder, file)).catch(hideFolder(backupFolder));
      };
      const { bytes } = await record({ action: "backup", target: file }, makeBackup, (made) => ({
        bytes: made.bytes,
      }));
      return { file, bytes };
    },
  }),
  defineAdmin({
    id: "adminDeleteBackup",
    operation: "DELETE /admin/backups",
    summary: "Delete a backup",
    description: "Permanently.",
    errors: { ...NAME_ERROR, ...NO_BACKUP },
    body: Reference,
    result: { schema: Reference, description: "The backup is deleted" },
    handle: async ({ backupFolder }, { body: { file }, record }) => {
      const backup = await findBackup(backupFolder, file);
      await record({ action: "backups delete", target: file }, () =>
        undefinedIfMissing(backup.delete()),
      );
      return { file };
    },
  }),
  defineAdmin({
    id: "adminDownloadBackup",
    operation: "GET /admin/backups/{file}",
    summary: "Download a backup",
    description:
      "The SQLite file. It has everything: the accounts, and the hashes of keys and tokens.",
    errors: NO_BACKUP,
    parameters: { file: Type.String({ ...FileName, examples: ["before-upgrade.db"] }) },
    result: {
      schema: Type.String({ contentMediaType: FILE_TYPE, format: "binary" }),
      description: "The file",
      headers: ["Content-Disposition"],
    },
    handle: async ({ backupFolder }, { parameters: { file = "" }, record }) => {
      const backup = await findBackup(backupFolder, file);
      await record({ action: "backups download", target: file }, async () => undefined);
      return new Response(readChunks(backup), {
        headers: {
          "content-type": FILE_TYPE,
          "content-disposition": `attachment; filename="${file}"`,
        },
      });
    },
  }),
] as const;

/** Creates a handler of backup errors that cuts the folder's path, which is no client's concern. */
const hideFolder = (folder: string) => (error: unknown) => {
  if (!(error instanceof DomainError)) throw error;
  const message = error.message.replaceAll(`${resolve(folder)}${sep}`, "");
  throw new DomainError(error.code, message, { cause: error.cause });
};

/** Lists the backups of a folder, the newest first, without files in the making (`.part`). */
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

/** Reads a file. For a `BunFile`, Bun would answer range requests with 206 or an empty 416. */
async function* readChunks(file: Bun.BunFile): AsyncGenerator<Uint8Array> {
  yield* file.stream();
}

async function findBackup(folder: string, file: string): Promise<Bun.BunFile> {
  const backup = Bun.file(join(folder, file));
  if (FILE_PATTERN.test(file) && (await backup.exists())) return backup;
  throw new DomainError("Not Found", `There is no backup ${file}`);
}
