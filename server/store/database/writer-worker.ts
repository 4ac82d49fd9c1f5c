/** The program of the worker threads for database files: one writes, another runs long reads. */
import type { WriterRequest } from "./file-writer.ts";
import {
  isLocked,
  openConnection,
  type SqliteConnection,
  type RawResult,
} from "./sqlite-connection.ts";
import { handleRequests } from "../../worker-rpc.ts";

/** Connections by the id of the open file. */
const connections = new Map<number, SqliteConnection>();

handleRequests((request: WriterRequest): RawResult[] => {
  try {
    return handleRequest(request);
  } catch (error) {
    // Closing a connection needs the commit lock, which the sender holds for these requests.
    const isInLock = request.method === "write" || request.method === "checkpoint";
    if (isInLock && isLocked(error)) closeConnection(request.file.id);
    throw error;
  }
});

function handleRequest(request: WriterRequest): RawResult[] {
  const { id, path, lockTimeoutMs } = request.file;
  if (request.method === "close") {
    try {
      connections.get(id)?.checkpoint("TRUNCATE");
    } catch {
      // For example on a full disk. The write-ahead log is stored, and stays.
    }
    closeConnection(id);
    return [];
  }
  const connection = connections.get(id) ?? openConnection(path, { lockTimeoutMs });
  connections.set(id, connection);
  switch (request.method) {
    case "write":
      return connection.write(request.statements, request);
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
