import { describe, expect, spyOn, test } from "bun:test";
import type { Database } from "../../../server/store/database/database.ts";
import type { ReplicaSource } from "../../../server/store/database/replica/catch-up.ts";
import { createReplica } from "../../../server/store/database/replica/replica.ts";
import { LAST_SEQUENCE } from "../../../server/store/history/change-log.ts";
import { openChangePublisher } from "../../../server/store/history/published-changes.ts";
import { createPublishedReads } from "../../../server/store/reads/published-reads.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { waitUntil } from "../../support/wait.ts";

/** Opens the databases of the ledger and of the entities, and a copy of the latter. */
const withAll = (
  work: (databases: Record<"ledger" | "entities" | "copy", Database>) => Promise<void>,
) =>
  withDatabase((ledger) =>
    withDatabase((entities) => withDatabase((copy) => work({ ledger, entities, copy }))),
  );

/** How long a read waits for a copy: the only timeout of this length. */
const WAIT_MS = 50;

const SELECT_USER = "SELECT json_quote(username) FROM users WHERE id = ?1";

/** Writes a user and change `sequence`. */
const writeUser = (database: Database, sequence: number) =>
  database.write([
    {
      sql: "INSERT OR REPLACE INTO users (id, username) VALUES ('a', ?)",
      args: [`user${sequence}`],
    },
    {
      sql: "INSERT INTO changes (sequence, uid, tags) VALUES (?, ?, '[]')",
      args: [sequence, `uid${sequence}`],
    },
  ]);

const countPublished = async (ledger: Database) =>
  (await queryRows(ledger, "SELECT count(entities_sequence) AS count FROM changes"))[0]?.["count"];

/** A replica whose copy the test writes; `advance` is called for each attempt to catch up. */
function createTestReplica(
  copy: Database,
  getNeeded: () => number,
  advance: () => Promise<void> = () => Promise.resolve(),
) {
  const state = { discards: 0 };
  const source: ReplicaSource = {
    reads: copy,
    advance,
    discard: () => void state.discards++,
    close: () => Promise.resolve(),
  };
  const selectSequence = `SELECT json_quote(${LAST_SEQUENCE})`;
  return { state, replica: createReplica(source, { selectSequence, getNeeded }) };
}

describe("createPublishedReads()", () => {
  test("publishes a change before it shows it", () =>
    withAll(async ({ ledger, entities }) => {
      const publisher = await openChangePublisher(entities, ledger);
      const reads = createPublishedReads(entities, publisher, undefined);
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBeUndefined();
      await writeUser(entities, 1);
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user1");
      expect([publisher.getLast(), await countPublished(ledger)]).toEqual([1, 1]);
      await writeUser(entities, 2);
      const [row] = await reads.queryRows({
        sql: "SELECT max(username) AS name FROM users WHERE id = ?",
        args: ["a"],
      });
      expect(row?.["name"]).toBe("user2");
      expect(publisher.getLast()).toBe(2);
    }));

  test("reads the copy if it has what is published, and waits until it has", () =>
    withAll(async ({ ledger, entities, copy }) => {
      await writeUser(entities, 1);
      const publisher = await openChangePublisher(entities, ledger);
      const { replica } = createTestReplica(copy, publisher.getLast, async () => {
        await writeUser(copy, publisher.getLast());
      });
      const reads = createPublishedReads(entities, publisher, replica);
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user1");
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user1");
      await writeUser(entities, 2);
      // It is not published, and the copy has what is.
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user1");
      await publisher.publish();
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user2");
      expect(replica.counts).toEqual({ replica: 4, primary: 0 });
      await replica.close();
    }));

  test("publishes what a copy has beyond what is published", () =>
    withAll(async ({ ledger, entities, copy }) => {
      const publisher = await openChangePublisher(entities, ledger);
      await writeUser(entities, 1);
      await writeUser(copy, 1);
      const { replica } = createTestReplica(copy, publisher.getLast);
      const reads = createPublishedReads(entities, publisher, replica);
      expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user1");
      expect([publisher.getLast(), await countPublished(ledger)]).toEqual([1, 1]);
      await replica.close();
    }));

  test("reads the primary if the copy has changes that the primary lost, and discards it once", () =>
    withAll(async ({ ledger, entities, copy }) => {
      await writeUser(entities, 1);
      const publisher = await openChangePublisher(entities, ledger);
      await writeUser(copy, 5);
      const { replica, state } = createTestReplica(copy, publisher.getLast);
      const reads = createPublishedReads(entities, publisher, replica);
      const read = () => reads.queryJson<string>(SELECT_USER, ["a"]);
      expect(await Promise.all([read(), read(), read()])).toEqual(["user1", "user1", "user1"]);
      expect(state.discards).toBe(1);
      await replica.close();
    }));

  test("a read waits for a copy that hangs once, and no other one until the copy has caught up", () =>
    withAll(async ({ ledger, entities, copy }) => {
      await writeUser(entities, 1);
      const publisher = await openChangePublisher(entities, ledger);
      const { promise: end, resolve } = Promise.withResolvers<void>();
      const { replica } = createTestReplica(copy, publisher.getLast, () => end);
      const reads = createPublishedReads(entities, publisher, replica);
      const read = async () =>
        expect(await reads.queryJson<string>(SELECT_USER, ["a"])).toBe("user1");
      using timeouts = spyOn(globalThis, "setTimeout");
      const countWaits = () => timeouts.mock.calls.filter(([, ms]) => ms === WAIT_MS).length;
      const startedAt = performance.now();
      await read();
      expect(performance.now() - startedAt).toBeGreaterThan(WAIT_MS - 5);
      expect(countWaits()).toBe(1);
      await read();
      expect(countWaits()).toBe(1);
      expect(replica.counts).toEqual({ replica: 0, primary: 2 });
      await writeUser(copy, 1);
      resolve();
      await waitUntil(async () => {
        await read();
        return replica.counts.replica > 0;
      });
      await replica.close();
    }));
});
