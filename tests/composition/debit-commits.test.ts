/** A process whose committer answers late or not at all, on a real libSQL server. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DomainError } from "../../core/errors.ts";
import { createPeerCertificate } from "../../server/committer/certificate.ts";
import { startCommitListener } from "../../server/committer/listener.ts";
import { createDebitCommits } from "../../server/composition/debit-commits.ts";
import { createSharedRoleWork, type RoleWork } from "../../server/composition/role-work.ts";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { commitRunBatch } from "../../server/store/accounts/run-batches.ts";
import type { ServiceLogger } from "../../server/log.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import type { Database } from "../../server/store/database/database.ts";
import { NotSentError } from "../../server/store/database/errors.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { ensurePeerCertificate } from "../../server/store/database/peer-certificate.ts";
import { catchError } from "../support/catch-error.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { makeCharge } from "../support/store/debits.ts";
import { queryRows } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";
import { NEWEST_VERSION } from "../../server/store/database/tables-version.ts";

const NOW = 1_790_000_000_000;

let server: Awaited<ReturnType<typeof startSqld>>;
let database: Database;
let account: number;
beforeEach(async () => {
  server = await startSqld({ durability: "relaxed" });
  database = await openDatabase({ url: server.url, durability: "process" });
  const ledger = createLedgerStore(database);
  account = (await ledger.createAccount("a", 0)).id;
  await ledger.grant({ id: "first", account: "a", amount: 2 }, 0);
});
afterEach(async () => {
  expect((await verifyLedger(database)).faults).toEqual([]);
  await database.close();
  await server.close();
});

const readBalance = async () =>
  (await queryRows(database, "SELECT balance FROM accounts"))[0]?.["balance"];

/** Starts a committer that commits each batch when the test says so, like one that was suspended. */
async function startLateCommitter() {
  const resumed = Promise.withResolvers<void>();
  let isRefusing = false;
  let committedCount = 0;
  const listener = startCommitListener({
    hostname: "127.0.0.1",
    port: 0,
    peerCertificate: await ensurePeerCertificate(database, createPeerCertificate),
    tablesVersion: NEWEST_VERSION,
    async commit(batch) {
      if (isRefusing) throw new Error("Refused");
      await resumed.promise;
      return commitRunBatch(database, batch).finally(() => committedCount++);
    },
    isRolledBack: () => true,
  });
  return {
    address: `127.0.0.1:${listener.port}`,
    stop: listener.stop,
    refuse: () => void (isRefusing = true),
    /** Lets it commit what it received. */
    async resume() {
      resumed.resolve();
      await waitUntil(() => committedCount > 0);
    },
  };
}

/** Opens the debits of a process that is connected to a committer; its own writes can fail. */
async function openProcess(address: string) {
  const messages: string[] = [];
  const log: ServiceLogger = {
    failure: () => undefined,
    info: (message) => void messages.push(message),
  };
  let failure: Error | undefined;
  const write: Database["write"] = (statements, options) =>
    failure === undefined ? database.write(statements, options) : Promise.reject(failure);
  const own = { ...database, write };
  const role: RoleWork = {
    ...createSharedRoleWork({ ledger: own, entities: own }, "committer", log),
    findOtherHolder: async () => ({ process: "another one", address }),
  };
  const config = { committerAddress: undefined, databaseUrl: server.url };
  const commits = createDebitCommits(config, own, role, log);
  const ledger = createLedgerStore(own, commits.commitRuns);
  const stop = commits.start();
  await waitUntil(() => messages.length > 0);
  return {
    ledger,
    queue: createDebitQueue({ ledger, now: () => NOW }),
    counts: commits.counts,
    stop,
    setFailure: (error?: Error) => void (failure = error),
  };
}

const AWAY = new NotSentError(new DomainError("Service Unavailable", "Away"));

describe.skipIf(!hasSqld())("a process whose committer does not answer", () => {
  test("commits a batch itself after a second; the late commit of the same batch debits nothing", async () => {
    const committer = await startLateCommitter();
    const process = await openProcess(committer.address);
    const startedAt = performance.now();
    expect((await process.queue.debit(makeCharge(account))).balance).toBe(1);
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    expect(process.counts).toEqual({ committer: 0, process: 1 });
    await committer.resume();
    expect(await readBalance()).toBe(1);
    await process.stop();
    await committer.stop();
  }, 20_000);

  test("answers 402; the late commit debits nothing, although there are credits now", async () => {
    const committer = await startLateCommitter();
    const process = await openProcess(committer.address);
    const refused = await catchError(() => process.queue.debit(makeCharge(account, 3)));
    expect(refused).toMatchObject({ code: "Insufficient Credits" });
    await process.ledger.grant({ id: "second", account: "a", amount: 10 }, NOW);
    await committer.resume();
    expect(await readBalance()).toBe(12);
    await process.stop();
    await committer.stop();
  }, 20_000);

  test.each([["before"], ["after"]])(
    "answers 503; a late commit %s the cancellation debits nothing",
    async (order) => {
      const committer = await startLateCommitter();
      const process = await openProcess(committer.address);
      process.setFailure(AWAY);
      const failed = await catchError(() => process.queue.debit(makeCharge(account)));
      expect(failed).toMatchObject({ code: "Service Unavailable" });
      expect(process.ledger.isRolledBack(failed)).toBe(false);
      const readBatches = () => queryRows(database, "SELECT runs FROM debit_batches");
      if (order === "before") {
        await committer.resume();
        expect(await readBalance()).toBe(1);
      }
      process.setFailure();
      if (order === "after") {
        await waitUntil(async () => (await readBatches()).length === 1);
        await committer.resume();
      }
      await waitUntil(async () => (await readBalance()) === 2);
      expect(await readBatches()).toHaveLength(1);
      await process.queue.close();
      await process.stop();
      await committer.stop();
    },
    20_000,
  );

  test("knows that nothing was committed if the committer refused the batch", async () => {
    const committer = await startLateCommitter();
    committer.refuse();
    const process = await openProcess(committer.address);
    process.setFailure(AWAY);
    const failed = await catchError(() => process.queue.debit(makeCharge(account)));
    expect(process.ledger.isRolledBack(failed)).toBe(true);
    process.setFailure();
    expect((await process.queue.debit(makeCharge(account))).balance).toBe(1);
    expect(process.counts).toEqual({ committer: 0, process: 1 });
    await process.stop();
    await committer.stop();
  }, 20_000);
});
