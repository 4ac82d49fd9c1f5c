/** The administration API of backups: over HTTP into one folder, on the owner's socket anywhere. */
import { join, resolve, sep } from "node:path";
import { existsSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { DomainError } from "../../../core/errors.ts";
import { strictObject } from "../../../core/resources/fields.ts";
import { formatInstant } from "../../../core/time.ts";
import type { BackupResult } from "../../store/database/backup.ts";
import { undefinedIfMissing } from "../../system-errors.ts";
import { BACKUP_TYPE } from "../openapi/admin/operation.ts";
import { BackupName, BackupReference, BackupRequest } from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import type { AdminOptions } from "./options.ts";
import { withBody } from "./validation.ts";

type BackupOptions = Pick<AdminOptions, "now" | "audit" | "backUp" | "backupFolder">;

/** Matches the names of backups that are made over HTTP. */
const FILE_PATTERN = new RegExp(BackupName.pattern ?? "");

/**
 * Creates the routes over HTTP. The client names a file, not a path: a token must not be worth access
 * to the file system.
 */
export function createFolderBackupRoutes(options: BackupOptions) {
  const { backupFolder, now } = options;
  /** Where the folder is does not concern the client. */
  const hideFolder = (error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    const message = error.message.replaceAll(`${resolve(backupFolder)}${sep}`, "");
    throw new DomainError(error.code, message, { cause: error.cause });
  };
  return new Elysia({ name: "admin-backup", prefix: "/admin" })
    .get("/backups", () => listBackups(backupFolder))
    .post(
      "/backups",
      async ({ body, request, set }) => {
        const file = body.file ?? createFileName(now());
        const { bytes } = await recordBackup(options, request, file, async () => {
          await mkdir(backupFolder, { recursive: true, mode: 0o700 });
          return options.backUp(join(backupFolder, file)).catch(hideFolder);
        });
        set.status = 201;
        return { file, bytes };
      },
      withBody(BackupRequest),
    )
    .get("/backups/:file", async ({ params: { file }, request }) => {
      const backup = await findBackup(backupFolder, file);
      const change = { action: "backups download", target: file } as const;
      await recordChange(options, request, change, async () => ({ result: undefined }));
      return new Response(readChunks(backup), {
        headers: {
          "content-type": BACKUP_TYPE,
          "content-disposition": `attachment; filename="${file}"`,
        },
      });
    })
    .delete(
      "/backups",
      async ({ body: { file }, request }) => {
        const backup = await findBackup(backupFolder, file);
        const change = { action: "backups delete", target: file } as const;
        await recordChange(options, request, change, async () => ({
          result: await undefinedIfMissing(backup.delete()),
        }));
        return { file };
      },
      withBody(BackupReference),
    );
}

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

/** Creates the route on the owner's socket, whose clients may write files anyway. */
export function createOwnerBackupRoutes(options: BackupOptions) {
  return new Elysia({ name: "owner-backup", prefix: "/admin" }).post(
    "/backup",
    ({ body: { file }, request }) =>
      recordBackup(options, request, file, () => options.backUp(file)),
    withBody(strictObject({ file: Type.String({ minLength: 1, maxLength: 4096 }) })),
  );
}

function recordBackup(
  options: BackupOptions,
  request: Request,
  file: string,
  backUp: () => Promise<BackupResult>,
): Promise<BackupResult> {
  return recordChange(options, request, { action: "backup", target: file }, async () => {
    const result = await backUp();
    return { result, details: { bytes: result.bytes } };
  });
}

/** The name of a backup that is given none: `metrics-2026-11-21T030700Z.db`. */
function createFileName(now: number): string {
  return `metrics-${formatInstant(now).slice(0, 19).replaceAll(":", "")}Z.db`;
}
