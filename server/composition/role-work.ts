/**
 * Runs work that only one process does for all that share a database. A database file has one
 * process, which holds all roles. On a server, the holder renews its lease; the others wait for it.
 */
import pLimit from "p-limit";
import { DomainError } from "../../core/errors.ts";
import { startLoop } from "../background-loop.ts";
import type { ServiceLogger } from "../log.ts";
import type { Role } from "../stored-names.ts";
import type { Database } from "../store/database/database.ts";
import {
  createRoleLease,
  fenceWrites,
  LEASE_RENEWAL_MS,
  type RoleHolder,
} from "../store/database/role-lease.ts";

/** Stops work; resolves once it has ended. */
type Stop = () => Promise<unknown>;

/** The database of the ledger, and that of the entities, which may be the same. */
type RoleDatabases = Readonly<Record<"ledger" | "entities", Database>>;

export interface RoleWork {
  /** They store writes only while this process holds the role. */
  readonly databases: RoleDatabases;
  isHeld(): boolean;
  /** Finds the other process that holds the role. */
  findOtherHolder(): Promise<RoleHolder | undefined>;
  /** Runs work whenever this process holds the role. @returns Stops that, and releases the role. */
  start(startWork: () => Stop): Stop;
  /** Runs work once. @throws {DomainError} `Conflict` if another process holds the role. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Creates the work of a role where no other process uses the database. */
export function createSoleRoleWork(databases: RoleDatabases): RoleWork {
  let isStarted = false;
  return {
    databases,
    isHeld: () => isStarted,
    findOtherHolder: async () => undefined,
    start(startWork) {
      isStarted = true;
      const stop = startWork();
      return () => stop().finally(() => (isStarted = false));
    },
    run: (work) => work(),
  };
}

/** @param address Where other processes reach this one, if the role needs that. */
export function createSharedRoleWork(
  { ledger, entities }: RoleDatabases,
  role: Role,
  log: Pick<ServiceLogger, "info" | "backgroundFailure">,
  address: string | null = null,
): RoleWork {
  const isSplit = entities !== ledger;
  const lease = createRoleLease(ledger, role, {
    address,
    entities: isSplit ? entities : undefined,
  });
  const fencedLedger = fenceWrites(ledger, lease);
  const runNext = pLimit(1);
  let isStarted = false;

  const reportFailure = (error: unknown) => {
    // Outages of the database are logged once.
    if (error instanceof DomainError && error.code === "Service Unavailable") return;
    log.backgroundFailure?.(error, `Renewing the role ${role}`);
  };

  async function acquireOrThrow(): Promise<void> {
    if (isStarted ? lease.isHeld() : await lease.acquire()) return;
    const { process = "no process yet" } = (await lease.findOtherHolder()) ?? {};
    throw new DomainError("Conflict", `The role ${role} is held by ${process}`);
  }

  async function runOnce<Result>(work: () => Promise<Result>): Promise<Result> {
    await acquireOrThrow();
    // Work that goes on in the background renews the lease, and releases it.
    if (isStarted) return work();
    const stopRenewals = startLoop({
      run: async () => void (await lease.acquire()),
      initialDelayMs: LEASE_RENEWAL_MS,
      intervalMs: LEASE_RENEWAL_MS,
      onFailure: reportFailure,
    });
    try {
      return await work();
    } finally {
      await stopRenewals();
      await lease.release().catch(reportFailure);
    }
  }

  return {
    databases: {
      ledger: fencedLedger,
      entities: isSplit ? fenceWrites(entities, lease) : fencedLedger,
    },
    isHeld: lease.isHeld,
    findOtherHolder: lease.findOtherHolder,
    start(startWork) {
      isStarted = true;
      const stop = startWhileHeld(lease, startWork, log, reportFailure);
      return async () => {
        await stop();
        isStarted = false;
        await lease.release().catch(reportFailure);
      };
    },
    run: (work) => runNext(() => runOnce(work)),
  };
}

function startWhileHeld(
  lease: ReturnType<typeof createRoleLease>,
  startWork: () => Stop,
  log: Pick<ServiceLogger, "info">,
  onFailure: (error: unknown) => void,
): Stop {
  const { role } = lease;
  let stopWork: Stop | undefined;
  /** Pending while work ends that the process may not do any more. */
  let ending: Promise<void> | undefined;
  let expiry: Timer | undefined;

  function endWork(): void {
    clearTimeout(expiry);
    const stop = stopWork;
    stopWork = undefined;
    if (stop === undefined) return;
    log.info?.("This process ends the work of the role {role}", { role });
    ending = stop()
      .catch(onFailure)
      .then(() => void (ending = undefined));
  }

  const stopLoop = startLoop({
    intervalMs: LEASE_RENEWAL_MS,
    onFailure,
    async run(signal) {
      // Writes of work that ends may not be taken for those of the next lease.
      if (ending !== undefined) return;
      const isHeld = await lease.acquire();
      if (signal.aborted) return;
      if (!isHeld) return endWork();
      clearTimeout(expiry);
      // Without a renewal until then, another process may begin.
      expiry = setTimeout(endWork, lease.getRemainingMs());
      if (stopWork !== undefined) return;
      log.info?.("This process begins the work of the role {role}", { role });
      stopWork = startWork();
    },
  });
  return async () => {
    endWork();
    await Promise.all([stopLoop(), ending]);
  };
}
