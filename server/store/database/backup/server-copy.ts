/**
 * Copies the database of a libSQL server into a file, while it is in use. The server replicates it
 * into an embedded replica, which is then an ordinary file.
 */
import { join } from "node:path";
import pRetry from "p-retry";
import { DomainError } from "../../../../core/errors.ts";
import type { Database, DatabaseOptions } from "../database.ts";
import { parseServerUrl } from "../remote/remote-connection.ts";
import { openSyncProgram, type SyncProgram } from "../replica/sync-client.ts";
import type { SyncTarget } from "../replica/sync-program.ts";
import { runOnScratchFile, withScratchFolder } from "./scratch-files.ts";

/** Each retry goes on where the attempt before it ended. */
const RETRIES = { retries: 60, minTimeout: 100, maxTimeout: 5000, factor: 2 };

/** How often other errors are retried: a server that stops answering is noticed after 10 seconds. */
const OTHER_RETRIES = 1;

/** While a server compacts its log, it has no copy to send: 2 to 5 seconds after 200 MB of log. */
const COMPACTING = /snapshot not found/;

/** Numbers that only grow: that of the last change, and the sums of the ledger. */
const SELECT_PROGRESS = `
  SELECT json_array(
    (SELECT ifnull(max(sequence), 0) FROM changes),
    (SELECT total(granted) FROM accounts),
    (SELECT total(debited) FROM accounts),
    (SELECT total(refunded) FROM accounts)
  ) AS progress`;

/** @param target A file that does not exist, or is empty. A folder beside it has the replica. */
export async function copyServer(
  { url, authToken }: Pick<DatabaseOptions, "url" | "authToken">,
  { queryJson }: Pick<Database, "queryJson">,
  target: string,
): Promise<void> {
  const address = parseServerUrl(url);
  const token = authToken ?? address.authToken ?? "";
  const folder = `${target}-replica`;
  const replica = { file: join(folder, "replica.db"), url: address.httpUrl, authToken: token };
  const progress = await queryJson<number[]>(SELECT_PROGRESS, []);
  await withScratchFolder(folder, async () => {
    await pRetry(() => synchronize(replica), {
      ...RETRIES,
      shouldRetry: ({ error, attemptNumber }) =>
        attemptNumber <= OTHER_RETRIES || COMPACTING.test(error.message),
    });
    const statements = [{ sql: SELECT_PROGRESS, args: [] }];
    const [result] = await runOnScratchFile({ file: replica.file, statements, target });
    assertNotOlder(JSON.parse(String(result?.rows[0]?.["progress"])), progress);
  });
}

/** Brings a replica up to what the server has when this begins, or newer. */
async function synchronize(replica: SyncTarget): Promise<void> {
  let program: SyncProgram | undefined;
  try {
    program = await openSyncProgram(replica);
    await program.synchronize();
  } catch (cause) {
    const reason = describeSyncError(cause);
    const message = `The libSQL server does not send its database: ${reason}`;
    throw new DomainError("Service Unavailable", message, { cause });
  } finally {
    await program?.end();
  }
}

/** An error of the driver has the headers of the response, and its message among them. */
function describeSyncError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /message: "([^"]+)"/.exec(text)?.[1] ?? text;
}

function assertNotOlder(copied: readonly number[], progress: readonly number[] = []): void {
  if (progress.every((value, index) => (copied[index] ?? -1) >= value)) return;
  const message = `The copy of the database is older than it: ${copied} instead of ${progress}`;
  throw new DomainError("Service Unavailable", message);
}
