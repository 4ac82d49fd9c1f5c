/** A circuit breaker: no call is sent to a server that does not answer, until a probe succeeds. */
import { setTimeout } from "node:timers/promises";
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import { createUnansweredError, toUnavailableError } from "../errors.ts";
import { openRemoteConnection } from "./remote-connection.ts";

type ServerAddress = Parameters<typeof openRemoteConnection>[0];

const PROBE_INTERVAL_MS = 250;
const PROBE_TIMEOUT_MS = 1500;

/** @param onStateChange Called with the reason when the circuit opens, without one when it closes. */
export function createCircuitBreaker(
  address: ServerAddress,
  onStateChange: (failure: DomainError | undefined) => void,
) {
  let failure: DomainError | undefined;
  let isProbing = false;
  let isStopped = false;

  async function probeUntilClosed(): Promise<void> {
    isProbing = true;
    do {
      if (failure !== undefined) await setTimeout(PROBE_INTERVAL_MS, undefined, { ref: false });
      const result = await probe(address);
      if (isStopped) return;
      const isChange = (result === undefined) !== (failure === undefined);
      failure = result;
      if (isChange) onStateChange(failure);
    } while (failure !== undefined);
    isProbing = false;
  }

  return {
    /** Why the circuit is open; `undefined` while it is closed. */
    getFailure: (): DomainError | undefined => failure,

    /** Probes the server, unless a probe runs, and opens the circuit if it does not answer. */
    probeNow: async (): Promise<void> => (isProbing ? undefined : probeUntilClosed()),

    stop: (): void => void (isStopped = true),
  };
}

/** Sends a query on a new connection; resolves to the reason why the server does not answer. */
async function probe(address: ServerAddress): Promise<DomainError | undefined> {
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
