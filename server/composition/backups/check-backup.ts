/** Checks a database file as a backup: opens it, recounts it, and verifies its ledger. */
import { DomainError } from "../../../core/errors.ts";
import { verifyLedger } from "../../store/accounts/verify-ledger.ts";
import { checkIntegrity } from "../../store/administration/check-integrity.ts";
import { createFileReads } from "../../store/database/backup/scratch-files.ts";
import { readVersions } from "../../store/database/migrate.ts";
import { readCounts, type DatabaseCounts } from "../../store/administration/counts.ts";

/**
 * Checks a file, which stays as it is.
 *
 * @param update Changes an intact database before its tables are read; gets their versions.
 * @throws {DomainError} `Conflict`, with what is wrong.
 */
export async function checkBackup(
  file: string,
  update: (versions: ReadonlySet<number>) => Promise<void> = async () => undefined,
): Promise<DatabaseCounts> {
  const reads = createFileReads(file);
  await checkIntegrity(reads);
  const versions = await readVersions(reads);
  if (versions.size === 0) {
    throw new DomainError("Conflict", "It is empty: it has no tables of this service");
  }
  await update(versions);
  const { faults } = await verifyLedger(reads);
  const [fault] = faults;
  if (fault !== undefined) {
    const more = faults.length === 1 ? "" : ` (and ${faults.length - 1} more)`;
    const message = `Its ledger is wrong: ${fault.account}: ${fault.problem}${more}`;
    throw new DomainError("Conflict", message);
  }
  return readCounts({ ledger: reads, entities: reads });
}
