/** Probes a libSQL server. */
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import { createUnansweredError, toUnavailableError } from "../errors.ts";
import { openRemoteConnection, type ServerAddress } from "./remote-connection.ts";

const PROBE_TIMEOUT_MS = 1500;

/** Sends a query on a new connection; resolves to the reason why the server does not answer. */
export async function probeServer(address: ServerAddress): Promise<DomainError | undefined> {
  const connection = openRemoteConnection(address);
  try {
    const answer = connection.execute({ sql: "SELECT 1", args: [] });
    await pTimeout(answer, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
    return undefined;
  } catch (error) {
    // Any other error is a response: the server refused the probe.
    return error instanceof DomainError ? error : toUnavailableError(error);
  } finally {
    connection.close();
  }
}
