/** Connections to a libSQL server that are kept between calls. */
import type { RemoteConnection } from "./remote-connection.ts";

/** A proxy can cut a connection that is idle for longer, without a sign. */
const IDLE_MAX_MS = 30_000;

interface IdleConnection {
  readonly connection: RemoteConnection;
  readonly since: number;
}

export function createConnectionPool(open: () => RemoteConnection) {
  let idle: IdleConnection[] = [];
  let isClosed = false;

  function discardIdle(): void {
    for (const { connection } of idle) connection.close();
    idle = [];
  }

  return {
    /** A connection for one call. */
    acquire(): RemoteConnection {
      for (;;) {
        const last = idle.pop();
        if (last === undefined) return open();
        const { connection, since } = last;
        if (!connection.isClosed() && performance.now() - since < IDLE_MAX_MS) return connection;
        connection.close();
      }
    },

    /** Takes back a connection whose call got a response. */
    release(connection: RemoteConnection): void {
      if (isClosed) connection.close();
      else idle.push({ connection, since: performance.now() });
    },

    /** Closes the idle connections: they can be dead without a sign. */
    discardIdle,

    /** Closes the idle connections; the others are closed when they are released. */
    close(): void {
      isClosed = true;
      discardIdle();
    },
  };
}
