/**
 * How a process commits its batches of debits. Of the processes that share a database server, one
 * is the committer, which commits the batches of all together: that takes the server a third of
 * the work. It is an optimization only. A batch that the committer does not commit within a second,
 * the process commits itself, under the same `uid`: whoever is first commits it, and the other one
 * gets the stored outcome.
 */
import { startLoop } from "../background-loop.ts";
import { ONE_AT_A_TIME, type CommitPacing } from "../commit-pacer.ts";
import { createBatchMerger } from "../committer/batch-merger.ts";
import { createPeerCertificate } from "../committer/certificate.ts";
import { createCommitClient, NotCommittedError } from "../committer/client.ts";
import { startCommitListener } from "../committer/listener.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import type { RunBatch } from "../store/accounts/debit-sql.ts";
import {
  commitRunBatch,
  commitRunBatches,
  type CommitRuns,
} from "../store/accounts/run-batches.ts";
import type { Database } from "../store/database/database.ts";
import { toUncertainError } from "../store/database/errors.ts";
import { parseFileUrl } from "../store/database/open-database.ts";
import { ensurePeerCertificate, readPeerCertificate } from "../store/database/peer-certificate.ts";
import { PIPELINED_WRITES_MAX } from "../store/database/remote/remote-database.ts";
import { LEASE_RENEWAL_MS } from "../store/database/role-lease.ts";
import { NEWEST_VERSION } from "../store/database/tables-version.ts";
import type { RoleWork } from "./role-work.ts";

/**
 * Of several processes, each has few clients. With this pause, most of them are in each batch: 20
 * requests in place of 11.
 */
const BATCH_PAUSE_MS = 1;

/** With this pause at most, the committer waits for the batches of all: 2.6 a commit, not 1.4. */
const MERGE_PAUSE_MS = 3;

export interface DebitCommits {
  readonly commitRuns: CommitRuns;
  readonly pacing: CommitPacing;
  /** How many batches of this process were committed, by whom. */
  readonly counts: Readonly<Record<"committer" | "process", number>>;
  /** Listens for the batches of other processes, if this one has an address for them. */
  listen(): Promise<void>;
  /** Follows the committer, and becomes it if there is none. @returns Stops that. */
  start(): () => Promise<void>;
  /** Ends the listening; after a start that failed, it would keep the process. */
  close(): Promise<void>;
}

/** Creates the commits of a process, which shares a database server, or alone uses a file. */
export const createDebitCommits = (
  config: Pick<Config, "committerAddress" | "databaseUrl">,
  database: Database,
  role: RoleWork,
  log: ServiceLogger,
): DebitCommits =>
  parseFileUrl(config.databaseUrl) === undefined
    ? createSharedCommits(config.committerAddress, database, role, log)
    : createSoleCommits(database);

function createSoleCommits(database: Database): DebitCommits {
  const counts = { committer: 0, process: 0 };
  return {
    async commitRuns(batch) {
      const committed = await commitRunBatch(database, batch);
      counts.process++;
      return committed;
    },
    pacing: ONE_AT_A_TIME,
    counts,
    listen: async () => undefined,
    start: () => async () => undefined,
    close: async () => undefined,
  };
}

function createSharedCommits(
  ownAddress: string | undefined,
  database: Database,
  role: RoleWork,
  log: ServiceLogger,
): DebitCommits {
  const client = createClient(database, log);
  let listener: Awaited<ReturnType<typeof startListener>> | undefined;
  const hasPeers = () => client.isReady() || listener?.hasPeers() === true;
  const createPacing = (pauseMs: number): CommitPacing => ({
    inFlightMax: PIPELINED_WRITES_MAX,
    getPauseMs: () => (hasPeers() ? pauseMs : 0),
  });
  const commitDirectly = createBatchMerger(
    (batches) => commitRunBatches(database, batches),
    createPacing(MERGE_PAUSE_MS),
  );

  async function stopListening(): Promise<void> {
    await listener?.stop();
    listener = undefined;
  }

  async function followCommitter(): Promise<void> {
    const holder = role.isHeld() ? undefined : await role.findOtherHolder();
    client.follow(holder?.address ?? undefined);
  }

  return {
    ...createForwarding(client, commitDirectly, database),
    pacing: createPacing(BATCH_PAUSE_MS),

    async listen() {
      if (ownAddress === undefined) return;
      listener = await startListener(ownAddress, database, commitDirectly);
    },

    start() {
      // Its work is to listen, which it does anyway: a batch may come late.
      const stopRole = listener === undefined ? undefined : role.start(() => async () => undefined);
      const stopFollowing = startLoop({
        run: followCommitter,
        intervalMs: LEASE_RENEWAL_MS,
        // It goes on with the committer that it knows. Outages of the database are logged once.
        onFailure: () => undefined,
      });
      return async () => {
        await stopFollowing();
        client.follow(undefined);
        await Promise.all([stopRole?.(), stopListening()]);
      };
    },

    close: stopListening,
  };
}

/**
 * After this time without an answer of the committer, the process finds out whether the database
 * answers. So it knows that when it commits the batch itself, and responds within two seconds.
 */
const PROBE_AFTER_MS = 300;

/** Creates the function that sends batches to the committer, and commits them itself otherwise. */
function createForwarding(
  client: ReturnType<typeof createCommitClient>,
  commitDirectly: CommitRuns,
  { getOutage, probe }: Pick<Database, "getOutage" | "probe">,
): Pick<DebitCommits, "commitRuns" | "counts"> {
  const counts = { committer: 0, process: 0 };

  async function commitItself(batch: RunBatch): ReturnType<CommitRuns> {
    const committed = await commitDirectly(batch);
    counts.process++;
    return committed;
  }

  async function forward(batch: RunBatch): ReturnType<CommitRuns> {
    let isRefused = false;
    const probeTimer = setTimeout(probe, PROBE_AFTER_MS);
    try {
      const committed = await client.commit(batch);
      counts.committer++;
      return committed;
    } catch (error) {
      if (error instanceof NotCommittedError) isRefused = error.isRefused;
    } finally {
      clearTimeout(probeTimer);
    }
    try {
      return await commitItself(batch);
    } catch (error) {
      // The committer may commit the batch later.
      throw isRefused ? error : toUncertainError(error);
    }
  }

  return {
    counts,
    commitRuns: (batch) =>
      client.isReady() && getOutage() === undefined ? forward(batch) : commitItself(batch),
  };
}

const createClient = (database: Database, { info }: ServiceLogger) =>
  createCommitClient({
    readPeerCertificate: () => readPeerCertificate(database),
    tablesVersion: NEWEST_VERSION,
    onConnectionChange(address, reason) {
      if (reason === undefined) {
        info?.("The committer at {address} commits the debits of this process", { address });
        return;
      }
      const values = { address, reason };
      info?.("This process commits its debits, not the committer at {address}: {reason}", values);
    },
  });

async function startListener(
  address: string,
  database: Database,
  commit: ReturnType<typeof createBatchMerger>,
) {
  const { hostname, port } = new URL(`tcp://${address}`);
  return startCommitListener({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
    peerCertificate: await ensurePeerCertificate(database, createPeerCertificate),
    tablesVersion: NEWEST_VERSION,
    commit,
    isRolledBack: database.isRolledBack,
  });
}
