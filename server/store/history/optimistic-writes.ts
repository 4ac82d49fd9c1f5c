/**
 * Writes that depend on reads. The change log fails their transaction if another process wrote
 * something that they depend on in between.
 */
import pRetry, { type Options } from "p-retry";
import { DomainError } from "../../../core/errors.ts";
import type { Database, Statement, StatementResult, WriteOptions } from "../database/database.ts";
import { LAST_SEQUENCE, type RecordChange } from "./change-log.ts";

export interface WritePlan {
  readonly recordChange: RecordChange;
  /** The statements that change histories; if there are none, nothing is written. */
  readonly statements: readonly Statement[];
}

/** Retries while other processes write; the last delays are half a second. */
export const createConflictRetries = (isConflict: (error: Error) => boolean): Options => ({
  retries: 25,
  minTimeout: 5,
  maxTimeout: 500,
  factor: 1.5,
  randomize: true,
  shouldRetry: ({ error }) => isConflict(error),
});

const CONFLICT_RETRIES = createConflictRetries((error) => error instanceof WriteConflictError);

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

export const readLastSequence = async (database: Database): Promise<number> =>
  (await database.queryJson<number>(`SELECT json_quote(${LAST_SEQUENCE})`, [])) ?? 0;

/** @throws {WriteConflictError} If a change since the sequence number conflicts with the plan. */
async function writePlan(
  database: Database,
  { recordChange, statements }: WritePlan,
  sequence: number,
  options: WriteOptions,
): Promise<readonly StatementResult[]> {
  const uid = crypto.randomUUID();
  const changeStatements = recordChange(sequence, uid);
  try {
    const all = [...changeStatements, ...statements];
    const results = await database.write(all, { ...options, idempotent: true });
    return results.slice(changeStatements.length);
  } catch (error) {
    if (!String(error).includes(VERSION_CONFLICT)) throw error;
    // The conflict may be with this same change, if the response to a first attempt was lost.
    const selectOwn = "SELECT json_quote(uid) FROM changes WHERE uid = ?";
    const own = await database.queryJson<string>(selectOwn, [uid]);
    if (own !== undefined) return [];
    throw new WriteConflictError();
  }
}

/**
 * Executes a plan as one transaction. It does not wait for other writes, nor they for the reads that
 * the plan depends on.
 *
 * @param sequence The number of the last change before these reads.
 * @returns Whether it is stored: not if others wrote meanwhile what the plan depends on.
 */
export async function tryWrite(
  database: Database,
  sequence: number,
  plan: WritePlan,
): Promise<boolean> {
  try {
    await writePlan(database, plan, sequence, { durability: "process" });
    return true;
  } catch (error) {
    if (error instanceof WriteConflictError) return false;
    throw error;
  }
}

/** The last write to each database: within a process, writes run one after another. */
const writeQueues = new WeakMap<Database, Promise<unknown>>();

/**
 * Executes a plan as one transaction; within a process, in the order of the calls. `createPlan`
 * reads the state that the plan depends on, again after a conflict. There are no results if the
 * plan is stored but the response was lost.
 */
export function writeOptimistically<Plan extends WritePlan>(
  database: Database,
  createPlan: () => Promise<Plan>,
  { durability = "configured" }: Pick<WriteOptions, "durability"> = {},
): Promise<{ readonly plan: Plan; readonly results: readonly StatementResult[] }> {
  async function attemptWrite() {
    const sequence = await readLastSequence(database);
    const plan = await createPlan();
    if (plan.statements.length === 0) return { plan, results: [] };
    return { plan, results: await writePlan(database, plan, sequence, { durability }) };
  }
  const previousWrite = writeQueues.get(database) ?? Promise.resolve();
  const write = previousWrite.then(() => pRetry(attemptWrite, CONFLICT_RETRIES));
  // The queue must not keep the results alive: they may be large.
  writeQueues.set(database, write.then(discardResult, discardResult));
  return write;
}

const discardResult = () => undefined;
