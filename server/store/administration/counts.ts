/** Reads numbers that only grow, to compare a database with its copy. */
import { sql } from "drizzle-orm";
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";

type LedgerCounts = Readonly<Record<"accounts" | "granted" | "debited" | "refunded", number>>;

/** How many of each kind there are, and the time of the newest observation, or 0. */
type EntityCounts = Readonly<Record<EntityKind | "newest", number>>;

export type DatabaseCounts = LedgerCounts & EntityCounts;

// total() is REAL and can't overflow: sums beyond 2^53 are about right.
const SELECT_LEDGER = `
  SELECT
    count(*) AS accounts,
    total(granted) AS granted,
    total(debited) AS debited,
    total(refunded) AS refunded
  FROM accounts`;

const SELECT_ENTITIES = `
  SELECT
    ${ENTITY_KINDS.map(
      (kind) => `(SELECT count(*) FROM ${KIND_TABLES[kind].entityTable}) AS ${kind}`,
    ).join(",\n    ")},
    max(${ENTITY_KINDS.map(
      (kind) => `ifnull((SELECT max(observed_at) FROM ${KIND_TABLES[kind].entityTable}), 0)`,
    ).join(", ")}) AS newest`;

type Reads = Pick<Database, "query">;

/** Counts what two databases, or one, have; each at one instant. A batch of queries never blocks. */
export async function readCounts({
  ledger,
  entities,
}: Readonly<Record<"ledger" | "entities", Reads>>): Promise<DatabaseCounts> {
  const readRow = async <Row>({ query }: Reads, text: string): Promise<Row> => {
    const [[row]] = await query((drizzle) => drizzle.batch([drizzle.all<Row>(sql.raw(text))]));
    if (row === undefined) throw new Error("The counts have no row");
    return row;
  };
  if (ledger === entities) {
    const both = `SELECT * FROM (${SELECT_LEDGER}), (${SELECT_ENTITIES})`;
    return readRow<DatabaseCounts>(ledger, both);
  }
  return {
    ...(await readRow<LedgerCounts>(ledger, SELECT_LEDGER)),
    ...(await readRow<EntityCounts>(entities, SELECT_ENTITIES)),
  };
}
