/**
 * Reads the state of entities that is published: never an older one than a debit or a write of this
 * process has learnt of, and never one with changes that are not published yet. So reads never go
 * backwards, whichever processes and replicas serve them.
 *
 * Each query selects the number of the last change in the same statement, so both are of one state.
 */
import type { Database, DatabaseReads } from "../database/database.ts";
import type { Replica } from "../database/replica/replica.ts";
import { LAST_SEQUENCE } from "../history/change-log.ts";
import type { PublishedChanges } from "../history/published-changes.ts";

/** A result, and the number of the last change in the state that it is of. */
interface Snapshot<Result> {
  readonly sequence: number;
  readonly result: Result;
}

type Query<Result> = (database: DatabaseReads) => Promise<Snapshot<Result>>;

export function createPublishedReads(
  primary: Database,
  changes: PublishedChanges,
  replica: Replica | undefined,
): DatabaseReads {
  async function read<Result>(query: Query<Result>): Promise<Result> {
    const needed = changes.getLast();
    const ofReplica = await replica?.read(query, needed);
    if (ofReplica !== undefined) {
      if (await changes.ensure(ofReplica.sequence)) return ofReplica.result;
      // Its server lost changes: it was restored from a backup, or lost its power.
      replica?.discard(ofReplica.sequence);
    }
    const { sequence, result } = await query(primary);
    await changes.ensure(sequence);
    return result;
  }

  return {
    queryJson<Value>(sql: string, args: readonly (string | number | null)[]) {
      return read<Value | undefined>(async (database) => {
        const pair = await database.queryJson<[number, Value | null]>(addSequence(sql), args);
        const [sequence, value] = pair ?? [0, null];
        return { sequence, result: value ?? undefined };
      });
    },

    queryRows(given) {
      const statement = typeof given === "string" ? { sql: given, args: [] } : given;
      const sql = `SELECT page.*, ${LAST_SEQUENCE} AS change_sequence FROM (${statement.sql}) AS page`;
      return read(async (database) => {
        const result = await database.queryRows({ ...statement, sql });
        const [first] = result;
        if (first === undefined) throw new Error("A query of one row has none");
        return { sequence: Number(first["change_sequence"]), result };
      });
    },
  };
}

const addSequence = (sql: string): string =>
  `SELECT '[' || ${LAST_SEQUENCE} || ',' || ifnull((${sql}), 'null') || ']'`;
