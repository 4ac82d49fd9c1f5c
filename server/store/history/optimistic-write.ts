/**
 * Writes of histories. What is written depends on what is there (a point that comes in is packed
 * into its chunk), so it is read, decided and written under one condition: that between nobody, in
 * whatever process, wrote histories that this depends on. If somebody did, nothing is written, and
 * it begins anew.
 */
import type { ResultSet } from "@libsql/client";
import pRetry from "p-retry";
import { DomainError } from "../../../core/errors.ts";
import { isRecorded, readLastSequence, type RecordChange } from "./change-log.ts";
import type { Database, Statement } from "../database/database.ts";

/** What is to be written. */
export interface WritePlan {
  readonly recordChange: RecordChange;
  /** What changes the histories; nothing is written where there is none. */
  readonly statements: readonly Statement[];
}

/** What became of a decision. */
export interface OptimisticWriteResult<Of extends WritePlan> {
  readonly plan: Of;
  /** What the statements did; nothing where that was not learnt, although they are written. */
  readonly results: readonly ResultSet[];
}

/** Attempts while other processes write; the last rests are half a second. */
const CONFLICT_RETRIES = {
  retries: 25,
  minTimeout: 5,
  maxTimeout: 500,
  factor: 1.5,
  randomize: true,
};

/** The last write of each database: within a process they take turns. */
const writeQueues = new WeakMap<Database, Promise<unknown>>();

/**
 * Writes what is decided by what is there, as one transaction; within a process in the order in
 * which this is called.
 *
 * @param createPlan Reads, and decides; called again where another process wrote since.
 * @throws {DomainError} `Service Unavailable` where others write without a pause.
 */
export function writeOptimistically<Of extends WritePlan>(
  database: Database,
  createPlan: () => Promise<Of>,
): Promise<OptimisticWriteResult<Of>> {
  const previousWrite = writeQueues.get(database) ?? Promise.resolve();
  const write = previousWrite.then(() =>
    pRetry(() => attemptWrite(database, createPlan), {
      ...CONFLICT_RETRIES,
      shouldRetry: ({ error }) => error instanceof WriteConflictError,
    }),
  );
  writeQueues.set(
    database,
    // Not what it came to: it may be large.
    write.then(discardResult, discardResult),
  );
  return write;
}

const discardResult = () => undefined;

/** Another write came between the reading and the writing. */
class WriteConflictError extends DomainError {
  constructor() {
    super(
      "Service Unavailable",
      "Others write the same observations without a pause; these are not stored",
    );
  }
}

async function attemptWrite<Of extends WritePlan>(
  database: Database,
  createPlan: () => Promise<Of>,
): Promise<OptimisticWriteResult<Of>> {
  const expected = { lastSequence: await readLastSequence(database), uid: crypto.randomUUID() };
  const decision = await createPlan();
  if (decision.statements.length === 0) return { plan: decision, results: [] };
  const changeStatements = decision.recordChange(expected);
  try {
    const resultSets = await database.write([...changeStatements, ...decision.statements], {
      durability: "configured",
      idempotent: true,
    });
    return { plan: decision, results: resultSets.slice(changeStatements.length) };
  } catch (error) {
    if (!isVersionConflict(error)) throw error;
    // The answer of the first attempt may have been lost, and this one came after it.
    if (await isRecorded(database, expected.uid)) return { plan: decision, results: [] };
    throw new WriteConflictError();
  }
}

/** Whether the change was refused because it comes after another than it says. */
function isVersionConflict(error: unknown): boolean {
  return (
    error instanceof Error && error.message.includes("NOT NULL constraint failed: changes.uid")
  );
}
