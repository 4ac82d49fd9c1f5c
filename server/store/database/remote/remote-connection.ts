/** A connection to a libSQL server: a WebSocket with one stream, which runs one call at a time. */
import type { InValue } from "@libsql/client";
import {
  BatchCond,
  Stmt,
  WebSocket,
  WsClient,
  type RowsResult,
  type Sql,
} from "@libsql/hrana-client";
import { DomainError } from "../../../../core/errors.ts";
import type { AccessMode, DatabaseOptions, Statement, StatementResult } from "../database.ts";
import { NotSentError } from "../errors.ts";

export type RemoteConnection = ReturnType<typeof openRemoteConnection>;

/** Version 2, with JSON messages. Version 3 saves the server no time. */
const SUBPROTOCOL = "hrana2";

/** The server closes a connection that stores more texts of SQL, and stores no longer texts. */
const STORED_TEXTS_MAX = 150;
const STORED_TEXT_MAX_CHARACTERS = 4999;

/** `FULL` in SQLite, `durability_mode: strong` in the server. */
const SYNCED_MIN = 2;

/**
 * A connection that does not answer a ping for this long is dead. The server answers pings while it
 * runs a call: within 4 ms, as measured. So a request is answered within 2 seconds, a retry included.
 * The answer comes after a response that is on its way: one of 10 MB, the largest, needs 8 MB/s.
 */
const PONG_TIMEOUT_MS = 1300;

const NOT_SYNCED =
  "The libSQL server does not sync commits to its disk, so a power cut loses charges; set the " +
  "durability_mode of its namespace to strong with its admin API, as server/LIBSQL.md shows, or " +
  "accept the loss with DURABILITY=process";

/**
 * Opens a connection, which the first call waits for. Keep it: a stream is a connection to SQLite
 * on the server, and each new one parses the schema. With `isSyncRequired`, calls fail if the
 * server does not sync their commits to the disk: it can lose the setting when it starts again.
 */
export function openRemoteConnection(
  { url, authToken }: Pick<DatabaseOptions, "url" | "authToken">,
  { isSyncRequired = false } = {},
) {
  const address = parseServerUrl(url);
  const socket = new WebSocket(address.webSocketUrl, SUBPROTOCOL);
  const client = new WsClient(socket, authToken ?? address.authToken);
  const stream = client.openStream();
  let isRetired = false;
  const opened = open();
  // The first call reports the failure.
  opened.catch(() => undefined);
  const texts = createTextStore(client);

  async function open(): Promise<void> {
    await client.getVersion();
    const fault = isSyncRequired ? await findDurabilityFault() : undefined;
    if (fault !== undefined) throw new NotSentError(new DomainError("Service Unavailable", fault));
  }

  /** Explains that the server did not sync commits at the opening; `undefined` if it did. */
  async function findDurabilityFault(): Promise<string | undefined> {
    const { rows } = await stream.query("PRAGMA synchronous");
    return Number(rows[0]?.[0]) >= SYNCED_MIN ? undefined : NOT_SYNCED;
  }

  const toStmt = ({ sql, args }: Statement) =>
    new Stmt(texts.store(sql)).bindIndexes(args.map(toWellFormedValue));

  async function execute(statement: Statement): Promise<StatementResult> {
    await opened;
    const answer = stream.query(toStmt(statement));
    texts.makeRoom();
    return toResult(await answer);
  }

  return {
    findDurabilityFault,
    execute,

    /** Runs statements as one transaction, all or none; a write takes the lock at once. */
    async batch(statements: readonly Statement[], access: AccessMode): Promise<StatementResult[]> {
      const [only] = statements;
      // A statement alone is a transaction.
      if (only !== undefined && statements.length === 1) return [await execute(only)];
      await opened;
      const batch = stream.batch();
      let previous = batch.step();
      const steps: Promise<unknown>[] = [
        previous.run(access === "write" ? "BEGIN IMMEDIATE" : "BEGIN TRANSACTION READONLY"),
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
      texts.makeRoom();
      await answer;
      // A failed step is the only one with an error: those after it did not run.
      await Promise.all(steps);
      return (await Promise.all(results)).map(toResult);
    },

    /** Whether it takes no more calls. */
    isClosed: (): boolean => isRetired || client.closed || stream.closed,

    /** Lets it take no more calls. Those in flight go on. */
    retire: (): void => void (isRetired = true),

    ...createLivenessCheck(socket),

    /** Closes the connection and ends its call in flight. */
    close(): void {
      client.close();
      // Else the process waits half a minute for the closing handshake with an unresponsive server.
      socket.terminate();
    },
  };
}

/** The server closes the connection after a text with half a surrogate pair, which JSON can have. */
const toWellFormedValue = (value: InValue): InValue =>
  typeof value === "string" ? value.toWellFormed() : value;

/** Pings a server. Times are in milliseconds. */
function createLivenessCheck(socket: WebSocket) {
  /** When the first ping was sent that has no answer yet. */
  let silentSince: number | undefined;
  for (const sign of ["open", "pong"] as const) {
    socket.addEventListener(sign, () => (silentSince = undefined));
  }
  return {
    /** Asks whether the connection is alive. One that is not open yet does not answer. */
    ping(now: number): void {
      silentSince ??= now;
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    },

    isDead: (now: number): boolean =>
      silentSince !== undefined && now - silentSince >= PONG_TIMEOUT_MS,
  };
}

/** Stores texts of SQL on a server, so that they are sent and parsed once. */
function createTextStore(client: WsClient) {
  const stored = new Map<string, Sql>();
  return {
    store(text: string): string | Sql {
      if (!stored.has(text) && text.length <= STORED_TEXT_MAX_CHARACTERS) {
        if (stored.size < STORED_TEXTS_MAX) stored.set(text, client.storeSql(text));
      }
      return stored.get(text) ?? text;
    },

    /** Makes room for other texts between two calls: a call needs its texts until it is sent. */
    makeRoom(): void {
      if (stored.size < STORED_TEXTS_MAX) return;
      for (const text of stored.values()) text.close();
      stored.clear();
    },
  };
}

/** The URLs of a server, whichever interface a URL names, and the token in that URL. */
export function parseServerUrl(text: string) {
  const { protocol, host, pathname, searchParams } = new URL(text);
  const isPlain =
    /^(?:http|ws):$/.test(protocol) || (protocol === "libsql:" && searchParams.get("tls") === "0");
  return {
    webSocketUrl: `${isPlain ? "ws" : "wss"}://${host}${pathname}`,
    httpUrl: `${isPlain ? "http" : "https"}://${host}${pathname}`,
    authToken: searchParams.get("authToken") ?? undefined,
  };
}

function toResult(result: RowsResult | undefined): StatementResult {
  if (result === undefined) throw new Error("The server did not run a statement");
  return { rows: result.rows, rowsAffected: result.affectedRowCount };
}
