/** Reads what a diagnosis needs to know of the databases, in the background of a service. */
import { sql } from "drizzle-orm";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import type { Database } from "../database/database.ts";
import { VERSIONS_TABLE } from "../database/tables-version.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";

/** Instants are milliseconds since 1970 UTC. */
interface LedgerFacts {
  /** By the clock of the database. */
  readonly now: number;
  readonly sqlite: string;
  /** The version of the tables: when the newest of their migrations was made. */
  readonly tables: number;
  /** The newest charge or change by an administrator; 0 if there is none. */
  readonly newestEntryAt: number;
  /** Accounts with a threshold of notices about a low balance. */
  readonly thresholds: number;
  readonly notices: {
    readonly pending: number;
    readonly failed: number;
    /** When the oldest pending one was made. */
    readonly oldestPendingAt: number | null;
    readonly lastFailure: string | null;
  };
  /** Who makes the scheduled backups for all that share a server: its process and machine. */
  readonly backupHolder: string | null;
  readonly stops: readonly {
    readonly source: string;
    readonly reason: string;
    readonly since: number;
    readonly until: number | null;
  }[];
}

interface EntityFacts {
  /** The first and the newest observation; `null` and 0 if there is none. */
  readonly oldestAt: number | null;
  readonly newestObservedAt: number;
  readonly bytes: number;
}

export interface DatabaseFacts extends LedgerFacts, EntityFacts {
  /** Of both databases, if there are two. */
  readonly bytes: number;
}

const BYTES = "(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)";

const SELECT_LEDGER_FACTS = `
  SELECT json_object(
    'now', CAST(unixepoch('subsec') * 1000 AS INTEGER),
    'sqlite', sqlite_version(),
    'tables', (SELECT max(created_at) FROM ${VERSIONS_TABLE}),
    'newestEntryAt', max(
      ifnull((SELECT max(recent_at) FROM accounts), 0),
      ifnull((SELECT at FROM audit ORDER BY id DESC LIMIT 1), 0)
    ),
    'thresholds', (SELECT count(low_balance) FROM accounts),
    'notices', json((
      SELECT json_object(
        'pending', count(due_at),
        'failed', count(*) - count(due_at),
        'oldestPendingAt', min(at) FILTER (WHERE due_at IS NOT NULL),
        'lastFailure', (
          SELECT failure
          FROM notices
          WHERE delivered_at IS NULL AND failure IS NOT NULL
          ORDER BY attempted_at DESC
          LIMIT 1
        )
      )
      FROM notices
      WHERE delivered_at IS NULL
    )),
    'backupHolder', (SELECT process FROM roles WHERE name = 'backup' AND holder <> ''),
    'stops', json((
      SELECT json_group_array(
        json_object('source', source, 'reason', reason, 'since', since, 'until', until)
      )
      FROM stopped_sources
    )),
    'bytes', ${BYTES}
  ) AS facts`;

const selectOfKinds = (getSql: (kind: (typeof ENTITY_KINDS)[number]) => string) =>
  ENTITY_KINDS.map(getSql).join(" UNION ALL ");

const SELECT_ENTITY_FACTS = `
  SELECT json_object(
    'oldestAt', (
      SELECT min(at)
      FROM (${selectOfKinds((kind) => `SELECT min(start) AS at FROM ${KIND_TABLES[kind].historyTable}`)})
    ),
    'newestObservedAt', ifnull((
      SELECT max(at)
      FROM (${selectOfKinds((kind) => `SELECT max(observed_at) AS at FROM ${KIND_TABLES[kind].entityTable}`)})
    ), 0),
    'bytes', ${BYTES}
  ) AS facts`;

type Reads = Pick<Database, "query">;

export async function readFacts({
  ledger,
  entities,
}: Readonly<Record<"ledger" | "entities", Reads>>): Promise<DatabaseFacts> {
  const ledgerFacts = await readJson<LedgerFacts & { bytes: number }>(ledger, SELECT_LEDGER_FACTS);
  const entityFacts = await readJson<EntityFacts>(entities, SELECT_ENTITY_FACTS);
  const bytes = entityFacts.bytes + (ledger === entities ? 0 : ledgerFacts.bytes);
  return { ...ledgerFacts, ...entityFacts, bytes };
}

/** A batch of queries runs in the background, so it delays no request. */
async function readJson<Value>({ query }: Reads, text: string): Promise<Value> {
  const [[row]] = await query((drizzle) =>
    drizzle.batch([drizzle.all<{ facts: string }>(sql.raw(text))]),
  );
  if (row === undefined) throw new Error("The facts have no row");
  const value: Value = JSON.parse(row.facts);
  return value;
}
