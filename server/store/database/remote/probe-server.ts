/** Probes a libSQL server. */
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import { createUnansweredError, toUnavailableError } from "../errors.ts";
import { openRemoteConnection, type ServerAddress } from "./remote-connection.ts";

const PROBE_TIMEOUT_MS = 1500;

/** Sends a query on a new connection; resolves to the reason why the server does not answer. */
export async function probeServer(address: ServerAddress): Promise<DomainError | undefined> {
  try {
    await query(address);
    return undefined;
  } catch (error) {
    // Any other error is a response: the server refused the probe.
    return error instanceof DomainError ? error : toUnavailableError(error);
  }
}

/** Whether a server answers anyone who can reach it. */
export async function answersWithoutToken(url: string): Promise<boolean> {
  // The URL can have a token too.
  return query({ url, authToken: "" }).then(
    () => true,
    () => false,
  );
}

async function query(address: ServerAddress): Promise<void> {
  const connection = openRemoteConnection(address);
  try {
    const answer = connection.execute({ sql: "SELECT 1", args: [] });
    await pTimeout(answer, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
  } finally {
    connection.close();
  }
}
