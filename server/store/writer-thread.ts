/** The thread that writes database files while the requests go on. */
import { connect, isLocked, type Connection, type Written } from "./connection.ts";
import type { Order, Reply } from "./writer.ts";

declare const self: Worker;

/** The connections, by the number of the opened file. */
const connections = new Map<number, Connection>();

self.addEventListener("message", ({ data }: MessageEvent<string | Order>) => {
  const order: Order = typeof data === "string" ? JSON.parse(data) : data;
  self.postMessage(JSON.stringify(obey(order)));
});

function obey(order: Order): Reply {
  try {
    return { id: order.id, written: work(order) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN";
    if (isLocked(error)) disconnect(order.file.id);
    const message = error instanceof Error ? error.message : String(error);
    return { id: order.id, failure: { message, code } };
  }
}

function work(order: Order): Written[] {
  const { id, path, lockTimeoutMs } = order.file;
  if (order.verb === "close") {
    connections.get(id)?.checkpoint("TRUNCATE");
    disconnect(id);
    return [];
  }
  let connection = connections.get(id);
  if (connection === undefined) {
    connection = connect(path, lockTimeoutMs);
    connections.set(id, connection);
  }
  switch (order.verb) {
    case "write":
      return connection.write(order.statements, order.isSynced);
    case "copy":
      connection.copyTo(order.target);
      return [];
    case "checkpoint":
      connection.checkpoint("PASSIVE");
      return [];
  }
}

function disconnect(id: number): void {
  connections.get(id)?.close();
  connections.delete(id);
}
