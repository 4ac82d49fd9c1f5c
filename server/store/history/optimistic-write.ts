/**
 * Writes histories with optimistic concurrency. A write depends on its reads: a new point is
 * packed into an existing chunk. So the transaction fails if another process wrote something
 * that this write depends on in between, and the write starts again.
 */
import pRetry, { type Options } from "p-retry";
import { DomainError } from "../../../core/errors.ts";
import type { Database, Statement, StatementResult, WriteOptions } from "../database/database.ts";
import { isRecorded, readLastSequence, type RecordChange } from "./change-log.ts";

/** The plan of a write: its statements, and the record of its change. */
interface WritePlan {
  readonly recordChange: RecordChange;
  /** The statements that change histories; if there are none, nothing is written. */
  readonly statements: readonly Statement[];
}

/** Retries while other processes write; the last delays are half a second. */
const CONFLICT_RETRIES: Options = {
  retries: 25,
  minTimeout: 5,
  maxTimeout: 500,
  factor: 1.5,
  randomize: true,
  shouldRetry: ({ error }) => error instanceof WriteConflictError,
};

/** The error when the change log refuses a change because it expected another version. */
const VERSION_CONFLICT = "NOT NULL constraint failed: changes.uid";

class WriteConflictError extends DomainError {
  constructor() {
    super(
      "Service Unavailable",
      "Other processes write the same observations without a pause; these are not stored",
    );
  }
}

/** The last write to each database: within a process, writes run one after another. */
const writeQueues = new WeakMap<Database, Promise<unknown>>();

/**
 * Executes a plan as one transaction; within a process, in the order of the calls.
 *
 * @param createPlan Reads the state that the plan depends on. It is called again after a conflict.
 * @returns The plan, and the results of its statements: none if they are stored but their response
 * was lost.
 * @throws {DomainError} `Service Unavailable` if other processes write without a pause.
 */
export function writeOptimistically<Plan extends WritePlan>(
  database: Database,
  createPlan: () => Promise<Plan>,
  { durability = "configured" }: Pick<WriteOptions, "durability"> = {},
): Promise<{ readonly plan: Plan; readonly results: readonly StatementResult[] }> {
  async function attemptWrite() {
    const lastSequence = await readLastSequence(database);
    const uid = crypto.randomUUID();
    const plan = await createPlan();
    if (plan.statements.length === 0) return { plan, results: [] };
    const changeStatements = plan.recordChange(lastSequence, uid);
    try {
      const statements = [...changeStatements, ...plan.statements];
      const results = await database.write(statements, { durability, idempotent: true });
      return { plan, results: results.slice(changeStatements.length) };
    } catch (error) {
      if (!String(error).includes(VERSION_CONFLICT)) throw error;
      // The conflict may be with this same change, if the response to a first attempt was lost.
      if (await isRecorded(database, uid)) return { plan, results: [] };
      throw new WriteConflictError();
    }
  }
  const previousWrite = writeQueues.get(database) ?? Promise.resolve();
  const write = previousWrite.then(() => pRetry(attemptWrite, CONFLICT_RETRIES));
  // The queue must not keep the results alive: they may be large.
  writeQueues.set(database, write.then(discardResult, discardResult));
  return write;
}

const discardResult = () => undefined;
