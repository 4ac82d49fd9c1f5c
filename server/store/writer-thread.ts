/** The threads that write database files, and read long, while the requests go on. */
import { connect, isLocked, type Connection, type Written } from "./connection.ts";
import { obeyOrders } from "./thread.ts";
import type { Order } from "./writer.ts";

/** The connections, by the number of the opened file. */
const connections = new Map<number, Connection>();

obeyOrders(
  (order: Order): Written[] => {
    try {
      return work(order);
    } catch (error) {
      if (isLocked(error)) disconnect(order.file.id);
      throw error;
    }
  },
  { isText: true },
);

function work(order: Order): Written[] {
  const { id, path, lockTimeoutMs } = order.file;
  if (order.verb === "close") {
    try {
      connections.get(id)?.checkpoint("TRUNCATE");
    } catch {
      // On a full disk, say. What is in the log is stored, and stays there.
    }
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
    // The connection stays open: the driver closes its descriptors only when garbage is collected.
    case "read":
      return connection.read(order.statements);
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
