/** The threads that write database files, and read long, while the requests go on. */
import {
  openConnection,
  isLocked,
  type SqliteConnection,
  type StatementResult,
} from "./sqlite-connection.ts";
import { handleRequests } from "./worker-rpc.ts";
import type { WriterRequest } from "./file-writer.ts";

/** The connections, by the number of the opened file. */
const connections = new Map<number, SqliteConnection>();

handleRequests(
  (order: WriterRequest): StatementResult[] => {
    try {
      return handleRequest(order);
    } catch (error) {
      if (isLocked(error)) closeConnection(order.file.id);
      throw error;
    }
  },
  { isJson: true },
);

function handleRequest(request: WriterRequest): StatementResult[] {
  const { id, path, lockTimeoutMs } = request.file;
  if (request.verb === "close") {
    try {
      connections.get(id)?.checkpoint("TRUNCATE");
    } catch {
      // On a full disk, say. What is in the log is stored, and stays there.
    }
    closeConnection(id);
    return [];
  }
  let connection = connections.get(id);
  if (connection === undefined) {
    connection = openConnection(path, lockTimeoutMs);
    connections.set(id, connection);
  }
  switch (request.verb) {
    case "write":
      return connection.write(request.statements, request.isSynced);
    // The connection stays open: the driver closes its descriptors only when garbage is collected.
    case "read":
      return connection.read(request.statements);
    case "copy":
      connection.copyTo(request.target);
      return [];
    case "checkpoint":
      connection.checkpoint("PASSIVE");
      return [];
  }
}

function closeConnection(id: number): void {
  connections.get(id)?.close();
  connections.delete(id);
}
