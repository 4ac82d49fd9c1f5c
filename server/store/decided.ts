/**
 * Writes of histories. What is written depends on what is there (a point that comes in is packed
 * into its chunk), so it is read, decided and written under one condition: that between nobody, in
 * whatever process, wrote histories that this depends on. If somebody did, nothing is written, and
 * it begins anew.
 */
import type { ResultSet } from "@libsql/client";
import pRetry from "p-retry";
import { DomainError } from "../../core/errors.ts";
import { isNoted, lastChange, type Tell } from "./changes.ts";
import type { Statement } from "./connection.ts";
import type { Database } from "./database.ts";

/** What is to be written. */
export interface Decision {
  readonly tell: Tell;
  /** What changes the histories; nothing is written where there is none. */
  readonly statements: readonly Statement[];
}

/** What became of a decision. */
export interface Decided<Of extends Decision> {
  readonly decision: Of;
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
const turns = new WeakMap<Database, Promise<unknown>>();

/**
 * Writes what is decided by what is there, as one transaction; within a process in the order in
 * which this is called.
 *
 * @param decide Reads, and decides; called again where another process wrote since.
 * @throws {DomainError} `Service Unavailable` where others write without a pause.
 */
export function writeDecided<Of extends Decision>(
  database: Database,
  decide: () => Promise<Of>,
): Promise<Decided<Of>> {
  const before = turns.get(database) ?? Promise.resolve();
  const turn = before.then(() =>
    pRetry(() => attempt(database, decide), {
      ...CONFLICT_RETRIES,
      shouldRetry: ({ error }) => error instanceof ConflictError,
    }),
  );
  turns.set(
    database,
    // Not what it came to: it may be large.
    turn.then(nothing, nothing),
  );
  return turn;
}

const nothing = () => undefined;

/** Another write came between the reading and the writing. */
class ConflictError extends DomainError {
  constructor() {
    super(
      "Service Unavailable",
      "Others write the same observations without a pause; these are not stored",
    );
  }
}

async function attempt<Of extends Decision>(
  database: Database,
  decide: () => Promise<Of>,
): Promise<Decided<Of>> {
  const place = { after: await lastChange(database), uid: crypto.randomUUID() };
  const decision = await decide();
  if (decision.statements.length === 0) return { decision, results: [] };
  const told = decision.tell(place);
  try {
    const written = await database.write([...told, ...decision.statements], {
      isRelaxed: true,
      isRepeatable: true,
    });
    return { decision, results: written.slice(told.length) };
  } catch (error) {
    if (!isOutOfPlace(error)) throw error;
    // The answer of the first attempt may have been lost, and this one came after it.
    if (await isNoted(database, place.uid)) return { decision, results: [] };
    throw new ConflictError();
  }
}

/** Whether the change was refused because it comes after another than it says. */
function isOutOfPlace(error: unknown): boolean {
  return (
    error instanceof Error && error.message.includes("NOT NULL constraint failed: changes.uid")
  );
}
