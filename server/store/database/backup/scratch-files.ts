/**
 * The files that are needed while a backup is made, in a private folder beside it; reads of a
 * database file that nobody else uses.
 */
import { lstat, mkdir, rm } from "node:fs/promises";
import { getProgramCommand } from "../../../programs.ts";
import type { Database, Statement, StatementResult } from "../database.ts";
import { createDrizzleQueries } from "../drizzle-queries.ts";
import { toResult } from "../sqlite-connection.ts";
import type { ScratchRequest, ScratchResponse } from "./scratch-program.ts";

/** Runs work with a new folder, and deletes the folder afterwards. */
export async function withScratchFolder<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  // A backup that was killed leaves it. A file of this name is not ours: then there is no folder.
  const left = await lstat(folder).catch(() => undefined);
  if (left?.isDirectory() === true) await rm(folder, { recursive: true, force: true });
  try {
    await mkdir(folder, { mode: 0o700 });
    return await work();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs statements on a database file that nobody else uses, and copies it if there is a target. */
export async function runOnScratchFile(request: ScratchRequest): Promise<StatementResult[]> {
  const command = getProgramCommand("store/database/backup/scratch-program.ts");
  const child = Bun.spawn([...command, JSON.stringify(request)], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("The program that copies the database ended");
  const response: ScratchResponse = JSON.parse(text);
  if ("results" in response) return response.results.map(toResult);
  throw Object.assign(new Error(response.error.message), { code: response.error.code });
}

/** Creates reads of a database file, which stays as it is. They run in a process of their own. */
export function createFileReads(file: string): Pick<Database, "query" | "queryRows"> {
  const batch = (statements: readonly Statement[]) =>
    runOnScratchFile({ file, statements, isReadonly: true });
  const execute = async (statement: Statement) => {
    const [result] = await batch([statement]);
    if (result === undefined) throw new Error("The statement has no result");
    return result;
  };
  return {
    query: createDrizzleQueries({ execute, batch }),
    queryRows: async (statement) =>
      (await execute(typeof statement === "string" ? { sql: statement, args: [] } : statement))
        .rows,
  };
}
