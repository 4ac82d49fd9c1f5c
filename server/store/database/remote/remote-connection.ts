/** A connection to a libSQL server: a WebSocket with one stream, which runs one call at a time. */
import type { ResultSet, Row } from "@libsql/client";
import {
  BatchCond,
  Stmt,
  WebSocket,
  WsClient,
  type RowsResult,
  type Sql,
} from "@libsql/hrana-client";
import { DomainError } from "../../../../core/errors.ts";
import { createResultSet, type DatabaseOptions, type Statement } from "../database.ts";
import { NotSentError } from "../errors.ts";

/** Where a server is, and the token for it. */
export type ServerAddress = Pick<DatabaseOptions, "url" | "authToken">;

export type RemoteConnection = ReturnType<typeof openRemoteConnection>;

/** The version of the protocol, with JSON messages. Version 3 saves the server no time. */
const SUBPROTOCOL = "hrana2";

/** The server closes a connection that stores more texts of SQL. */
const STORED_TEXTS_MAX = 150;

/** How many texts stay stored between calls, so that a call can store new ones. */
const KEPT_TEXTS_MAX = 100;

/** The server stores no text that is longer. */
const STORED_TEXT_MAX_CHARACTERS = 4999;

/**
 * Opens a connection, which the first call waits for.
 *
 * Keep it: a stream is a connection to SQLite on the server, and each new one parses the schema.
 *
 * @param options.isSyncRequired Whether calls fail if the server does not sync their commits to the disk.
 */
export function openRemoteConnection(
  { url, authToken }: ServerAddress,
  { isSyncRequired = false } = {},
) {
  const address = parseServerUrl(url);
  const socket = new WebSocket(address.url, SUBPROTOCOL);
  const client = new WsClient(socket, authToken ?? address.authToken);
  const stream = client.openStream();
  const opened = open();
  // The first call reports the failure.
  opened.catch(() => undefined);
  /** Texts that the server has, from the one used longest ago to the one used last. */
  const storedTexts = new Map<string, Sql>();

  async function open(): Promise<void> {
    await client.getVersion();
    if (!isSyncRequired) return;
    // A server can lose the setting when it starts again.
    const fault = findDurabilityFault((await stream.query(READ_DURABILITY.sql)).rows);
    if (fault !== undefined) throw new NotSentError(new DomainError("Service Unavailable", fault));
  }

  /** Replaces a text that the server has, or stores it there. */
  function storeText(text: string): string | Sql {
    const stored = storedTexts.get(text);
    const hasRoom = storedTexts.size < STORED_TEXTS_MAX;
    if (stored === undefined && (!hasRoom || text.length > STORED_TEXT_MAX_CHARACTERS)) return text;
    const used = stored ?? client.storeSql(text);
    storedTexts.delete(text);
    storedTexts.set(text, used);
    return used;
  }

  /** Deletes the texts used longest ago. Those of a call are needed until it is sent. */
  function deleteOldTexts(): void {
    for (const [text, stored] of storedTexts) {
      if (storedTexts.size <= KEPT_TEXTS_MAX) return;
      stored.close();
      storedTexts.delete(text);
    }
  }

  const toStmt = ({ sql, args }: Statement) => new Stmt(storeText(sql)).bindIndexes(args);

  return {
    /** Runs one statement. */
    async execute(statement: Statement): Promise<ResultSet> {
      await opened;
      const answer = stream.query(toStmt(statement));
      deleteOldTexts();
      return toResultSet(await answer);
    },

    /** Runs statements as one transaction, all or none; one that writes takes the lock at once. */
    async batch(statements: readonly Statement[], mode: "read" | "write"): Promise<ResultSet[]> {
      await opened;
      const batch = stream.batch();
      let previous = batch.step();
      const steps: Promise<unknown>[] = [
        previous.run(mode === "write" ? "BEGIN IMMEDIATE" : "BEGIN TRANSACTION READONLY"),
      ];
      const results = statements.map((statement) => {
        const step = batch.step().condition(BatchCond.ok(previous));
        previous = step;
        return step.query(toStmt(statement));
      });
      const commit = batch.step().condition(BatchCond.ok(previous));
      steps.push(...results, commit.run("COMMIT"));
      const rollback = batch.step().condition(BatchCond.not(BatchCond.ok(commit)));
      // The rollback fails if the server rolled back by itself.
      rollback.run("ROLLBACK").catch(() => undefined);
      const answer = batch.execute();
      deleteOldTexts();
      await answer;
      // A failed step is the only one with an error: those after it did not run.
      await Promise.all(steps);
      return (await Promise.all(results)).map(toResultSet);
    },

    isClosed: (): boolean => client.closed || stream.closed,

    /** Ends the call in flight. */
    close(): void {
      client.close();
      // Else the process waits half a minute for the farewell of a server that does not answer.
      socket.terminate();
    },
  };
}

/** The WebSocket of a server, whichever of its interfaces a URL names, and the token in the URL. */
function parseServerUrl(text: string): { url: string; authToken: string | undefined } {
  const { protocol, host, pathname, searchParams } = new URL(text);
  const isPlain =
    /^(?:http|ws):$/.test(protocol) || (protocol === "libsql:" && searchParams.get("tls") === "0");
  return {
    url: `${isPlain ? "ws" : "wss"}://${host}${pathname}`,
    authToken: searchParams.get("authToken") ?? undefined,
  };
}

function toResultSet(result: RowsResult | undefined): ResultSet {
  if (result === undefined) throw new Error("The server did not run a statement");
  return createResultSet({
    columns: result.columnNames.map((name) => name ?? ""),
    rows: result.rows,
    rowsAffected: result.affectedRowCount,
  });
}

/** Reads the setting that the server had when the connection was opened. */
export const READ_DURABILITY: Statement = { sql: "PRAGMA synchronous", args: [] };

/** `FULL` in SQLite, `durability_mode: strong` in the server. */
const SYNCED_MIN = 2;

/** Explains that a server does not sync its commits, by the rows of {@link READ_DURABILITY}. */
export function findDurabilityFault([row]: readonly Row[]): string | undefined {
  if (Number(row?.[0]) >= SYNCED_MIN) return undefined;
  return (
    "The libSQL server does not sync commits to its disk, so a power cut loses charges; set the " +
    "durability_mode of its namespace to strong with its admin API, as server/README.md shows, or " +
    "accept the loss with DURABILITY=process"
  );
}
