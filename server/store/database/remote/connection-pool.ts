/**
 * Connections to a libSQL server. Each runs one call at a time, so that closing it ends that call
 * and no other.
 */
import { createClient, type Client } from "@libsql/client";
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import { toUnavailableError, createUnansweredError } from "../errors.ts";

/** Where a server is. */
export interface RemoteAddress {
  /** `libsql://`, `http(s)://` or `ws(s)://`. */
  readonly url: string;
  readonly authToken?: string;
}

/** A connection to a server. */
export interface RemoteConnection {
  readonly client: Client;
  /** Ends the call under way and closes the connection. */
  close(): void;
}

/** How long a probe may take. */
const PROBE_TIMEOUT_MS = 1500;

/** Idle connections that Bun's `fetch` keeps of one server. */
const FETCH_POOL_MAX_SOCKETS = 64;

/** Time between two looks at whether the idle connections of `fetch` are alive. */
const REVALIDATE_INTERVAL_MS = 1000;

/** The connections to a server. */
export type ConnectionPool = ReturnType<typeof createConnectionPool>;

/** Makes a pool, empty. */
export function createConnectionPool(address: RemoteAddress) {
  const isWebSocket = /^wss?:/i.test(address.url);
  let idle: RemoteConnection[] = [];
  let isClosed = false;
  /** Whether `fetch` may use the idle connections that it keeps: any of them may be dead. */
  let isSocketReuseAllowed = true;

  const connect = (mayReuse: () => boolean) =>
    isWebSocket ? connectWebSocket(address) : connectHttp(address, mayReuse);

  /** Probes the server over a new connection. */
  const probe = () => probeConnection(connect(() => false));

  /** Lets `fetch` use idle connections again once as many as it keeps all answer. */
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

    /** Keeps a connection whose call ended well. */
    release(connection: RemoteConnection): void {
      if (isClosed) connection.close();
      else idle.push(connection);
    },

    /** Resolves to why the server does not answer; to nothing where it does. */
    probe,

    /** Stops using connections that are idle now: they can be dead without a sign. */
    discardIdle(): void {
      for (const connection of idle) connection.close();
      idle = [];
      if (isWebSocket || !isSocketReuseAllowed) return;
      isSocketReuseAllowed = false;
      void revalidateFetchPool();
    },

    /** Closes the idle connections; others are closed when they are given back. */
    close(): void {
      isClosed = true;
      for (const connection of idle) connection.close();
      idle = [];
    },
  };
}

function connectHttp(address: RemoteAddress, mayReuse: () => boolean): RemoteConnection {
  const controller = new AbortController();
  const { signal } = controller;
  const client = createClient({
    ...address,
    // Without `keepalive`, Bun neither takes a connection that it keeps nor keeps this one.
    fetch: (request: Request) => fetch(request, { signal, keepalive: mayReuse() }),
  });
  return {
    client,
    close() {
      controller.abort();
      client.close();
    },
  };
}

function connectWebSocket(address: RemoteAddress): RemoteConnection {
  const client = createClient({ ...address });
  return { client, close: () => client.close() };
}

/** Sends a probe and closes the connection; resolves to why there was no answer. */
async function probeConnection({
  client,
  close,
}: RemoteConnection): Promise<DomainError | undefined> {
  try {
    const response = client.execute("SELECT 1");
    await pTimeout(response, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
    return undefined;
  } catch (error) {
    // A server that refuses the probe answers.
    return error instanceof DomainError ? error : toUnavailableError(error);
  } finally {
    close();
  }
}
