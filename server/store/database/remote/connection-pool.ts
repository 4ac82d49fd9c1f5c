/**
 * Connections to a libSQL server. Each runs one call at a time, so closing a connection ends that
 * call and no other.
 */
import { createClient, type Client, type Config } from "@libsql/client";
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import { createUnansweredError, toUnavailableError } from "../errors.ts";

/** A connection to a server. */
export interface RemoteConnection {
  readonly client: Client;
  /** Ends the call in flight and closes the connection. */
  close(): void;
}

const PROBE_TIMEOUT_MS = 1500;

/** How many idle sockets Bun's `fetch` keeps for a server. */
const FETCH_POOL_MAX_SOCKETS = 64;

/** Time between two checks of the idle sockets of `fetch`. */
const REVALIDATE_INTERVAL_MS = 1000;

/** The connections to a server. */
export type ConnectionPool = ReturnType<typeof createConnectionPool>;

/** Creates an empty pool. @param url `libsql://`, `http(s)://` or `ws(s)://`. */
export function createConnectionPool(url: string, authToken: string | undefined) {
  const address: Config = { url, ...(authToken === undefined ? {} : { authToken }) };
  const isWebSocket = /^wss?:/i.test(url);
  let idle: RemoteConnection[] = [];
  let isClosed = false;
  /** Whether `fetch` may use the idle sockets that it keeps; after a failure, any may be dead. */
  let isSocketReuseAllowed = true;

  const connect = (mayReuseSocket: () => boolean) =>
    isWebSocket ? connectWebSocket(address) : connectHttp(address, mayReuseSocket);

  const probe = () => probeConnection(connect(() => false));

  function closeIdle(): void {
    for (const connection of idle) connection.close();
    idle = [];
  }

  /** Allows `fetch` to use idle sockets again once as many as it keeps have answered. */
  async function revalidateFetchPool(): Promise<void> {
    if (isClosed) return;
    if ((await probe()) === undefined) {
      const probes = Array.from({ length: FETCH_POOL_MAX_SOCKETS }, () =>
        probeConnection(connect(() => true)),
      );
      isSocketReuseAllowed = (await Promise.all(probes)).every((failure) => failure === undefined);
    }
    if (!isSocketReuseAllowed)
      setTimeout(() => void revalidateFetchPool(), REVALIDATE_INTERVAL_MS).unref();
  }

  return {
    /** A connection for one call. */
    acquire: (): RemoteConnection => idle.pop() ?? connect(() => isSocketReuseAllowed),

    /** Takes back a connection whose call got a response. */
    release(connection: RemoteConnection): void {
      if (isClosed) connection.close();
      else idle.push(connection);
    },

    /** Probes the server on a new connection; resolves to the reason why it does not answer. */
    probe,

    /** Discards the idle connections: they can be dead without a sign. */
    discardIdle(): void {
      closeIdle();
      if (isWebSocket || !isSocketReuseAllowed) return;
      isSocketReuseAllowed = false;
      void revalidateFetchPool();
    },

    /** Closes the idle connections; the others are closed when they are released. */
    close(): void {
      isClosed = true;
      closeIdle();
    },
  };
}

function connectHttp(address: Config, mayReuseSocket: () => boolean): RemoteConnection {
  const controller = new AbortController();
  const { signal } = controller;
  const client = createClient({
    ...address,
    // Without `keepalive`, Bun neither uses an idle socket nor keeps this one.
    fetch: (request: Request) => fetch(request, { signal, keepalive: mayReuseSocket() }),
  });
  return {
    client,
    close() {
      controller.abort();
      client.close();
    },
  };
}

function connectWebSocket(address: Config): RemoteConnection {
  const client = createClient(address);
  return { client, close: () => client.close() };
}

/** Sends a probe and closes the connection; resolves to the reason why there was no response. */
async function probeConnection({
  client,
  close,
}: RemoteConnection): Promise<DomainError | undefined> {
  try {
    const response = client.execute("SELECT 1");
    await pTimeout(response, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
    return undefined;
  } catch (error) {
    // Any other error is a response: the server refused the probe.
    return error instanceof DomainError ? error : toUnavailableError(error);
  } finally {
    close();
  }
}
