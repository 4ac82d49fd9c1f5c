/** Finds out by probes whether a libSQL server answers. */
import { setTimeout } from "node:timers/promises";
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import { createUnansweredError, toUnavailableError } from "../errors.ts";
import { openRemoteConnection } from "./remote-connection.ts";

type ServerAddress = Parameters<typeof openRemoteConnection>[0];

const PROBE_INTERVAL_MS = 250;
const PROBE_TIMEOUT_MS = 1000;

/**
 * Creates the detector of a server's outages. A probe that fails begins an outage; it is repeated
 * until one succeeds.
 *
 * @param onChange Called with the reason when an outage begins, without one when it ends.
 */
export function createOutageDetector(
  address: ServerAddress,
  onChange: (failure: DomainError | undefined) => void,
) {
  let isStopped = false;
  let outage: DomainError | undefined;
  let probing: Promise<void> | undefined;

  async function probeUntilAnswered(): Promise<void> {
    do {
      if (outage !== undefined) await setTimeout(PROBE_INTERVAL_MS, undefined, { ref: false });
      const failure = await probeServer(address);
      if (isStopped) return;
      const isChange = (failure === undefined) !== (outage === undefined);
      outage = failure;
      if (isChange) onChange(failure);
    } while (outage !== undefined);
  }

  return {
    /** Starts a probe, unless one runs. */
    probe(): void {
      if (!isStopped) probing ??= probeUntilAnswered().finally(() => (probing = undefined));
    },

    /** Why the server does not answer; `undefined` while it does. */
    getOutage: (): DomainError | undefined => outage,
    stop: (): void => void (isStopped = true),
  };
}

/** Queries a server, on a new connection; resolves to the reason why it does not answer. */
async function probeServer(address: ServerAddress): Promise<DomainError | undefined> {
  try {
    await query(address);
    return undefined;
  } catch (error) {
    // Any other error is a response: the server refused the probe.
    return error instanceof DomainError ? error : toUnavailableError(error);
  }
}

/** Whether a server answers anyone who can reach it. */
export const answersWithoutToken = (url: string): Promise<boolean> =>
  // The URL can have a token too.
  query({ url, authToken: "" }).then(
    () => true,
    () => false,
  );

async function query(address: ServerAddress): Promise<void> {
  const connection = openRemoteConnection(address);
  try {
    const answer = connection.execute({ sql: "SELECT 1", args: [] });
    await pTimeout(answer, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
  } finally {
    connection.close();
  }
}
