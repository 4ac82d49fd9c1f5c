/**
 * A replica for reads: an embedded file, or a replica server. A read takes it if it has the change
 * that the read has to show. Otherwise, it waits briefly, and then takes the primary: so a replica
 * that is dead, cut off or far behind costs latency, but no error.
 */
import pTimeout from "p-timeout";
import type { DatabaseReads } from "../database.ts";
import { createCatchUp, readSequence, type ReplicaSource } from "./catch-up.ts";

export type Replica = ReturnType<typeof createReplica>;

/** How long a read of the copy may take: an embedded one takes a millisecond at most. */
const READ_TIMEOUT_MS = 250;

export function createReplica(source: ReplicaSource, options: Parameters<typeof createCatchUp>[1]) {
  const catchUp = createCatchUp(source, options);
  const counts = { replica: 0, primary: 0 };

  async function tryRead<Snapshot extends { readonly sequence: number }>(
    query: (reads: DatabaseReads) => Promise<Snapshot>,
    needed: number,
  ): Promise<Snapshot | undefined> {
    if (!(await catchUp.waitUntilHas(needed))) return undefined;
    try {
      const snapshot = await pTimeout(query(source.reads), { milliseconds: READ_TIMEOUT_MS });
      catchUp.setSequence(snapshot.sequence, needed);
      return snapshot.sequence >= needed ? snapshot : undefined;
    } catch {
      catchUp.suspect(needed);
      return undefined;
    }
  }

  return {
    /** How many reads the replica served, and how many the primary in its place. */
    counts: counts as Readonly<typeof counts>,

    /** Reads the copy, if it has the change `needed`; `undefined` if the primary has to be read. */
    async read<Snapshot extends { readonly sequence: number }>(
      query: (reads: DatabaseReads) => Promise<Snapshot>,
      needed: number,
    ): Promise<Snapshot | undefined> {
      const snapshot = await tryRead(query, needed);
      counts[snapshot === undefined ? "primary" : "replica"]++;
      return snapshot;
    },

    /** Why reads take the primary, as far as it is known; `undefined` if they need not. */
    getFailure: catchUp.getFailure,

    /** Finds out whether the copy can be read. @returns Why reads take the primary, if they do. */
    async check(): Promise<unknown> {
      if (catchUp.getFailure() === undefined) {
        try {
          await pTimeout(readSequence(source, options.selectSequence), {
            milliseconds: READ_TIMEOUT_MS,
          });
        } catch (error) {
          catchUp.suspect(0, error);
        }
      }
      return catchUp.getFailure();
    },

    /** Brings the copy up to date in the background. */
    start: catchUp.start,

    /** Makes the copy anew, because it has a change that the primary does not have. */
    discard(sequence: number): void {
      // Another read may have discarded it before.
      if (!catchUp.has(sequence)) return;
      source.discard();
      catchUp.suspect(0);
    },

    async close(): Promise<void> {
      catchUp.stop();
      await source.close();
    },
  };
}
