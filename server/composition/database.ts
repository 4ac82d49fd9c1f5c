/** Opens the configured database, and reads its status. */
import { redactUrl, type Config } from "../config.ts";
import type { SourceStatus } from "../collectors/source-health.ts";
import type { AdminOptions } from "../http/admin/endpoint.ts";
import type { ServiceLogger } from "../log.ts";
import { readTotals } from "../store/administration/totals.ts";
import { parseFileUrl, readFileBytes } from "../store/database/database-file.ts";
import type { Database } from "../store/database/database.ts";
import { openDatabase } from "../store/database/open-database.ts";
import { describeError } from "../system-errors.ts";

/** Opens the database of the configuration; afterwards, outages and their ends are logged. */
export async function openConfiguredDatabase(
  config: Config,
  log: ServiceLogger,
): Promise<Database> {
  const server = redactUrl(config.databaseUrl);
  // While it opens, an outage is thrown and need not be logged.
  let isOpen = false;
  const database = await openDatabase({
    url: config.databaseUrl,
    durability: config.durability,
    onAvailabilityChange(failure) {
      if (!isOpen) return;
      if (failure === undefined) {
        log.info?.("The database server {server} answers again", { server });
      } else {
        const values = { server, reason: describeError(failure) };
        log.warning?.("The database server {server} does not answer: {reason}", values);
      }
    },
    authToken: config.databaseAuthToken,
  });
  isOpen = true;
  return database;
}

/**
 * Creates the reader of the status.
 *
 * @param check Throws while requests cannot be charged or read.
 */
export function createStatusReader(
  { databaseUrl, durability }: Config,
  database: Database,
  readSources: () => Promise<SourceStatus[]>,
  check: () => Promise<void>,
  now: () => number,
): AdminOptions["readStatus"] {
  const file = parseFileUrl(databaseUrl);
  const readOutage = () => check().then(() => null, describeError);
  return async () => ({
    database: {
      url: redactUrl(databaseUrl),
      bytes: file === undefined ? null : readFileBytes(file),
      durability,
      outage: await readOutage(),
    },
    totals: await readTotals(database, now()),
    sources: await readSources(),
  });
}
