import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { openRemoteConnection } from "../../server/store/database/remote/remote-connection.ts";
import { retryWithin } from "../support/wait.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

/** How long it may take to detect that a server does not answer. */
const DETECTED_WITHIN_MS = 8000;
/** Generous, for slow machines; the long form of the tests under load allows two seconds. */
const RECOVERED_WITHIN_MS = 5000;

const UNANSWERED = "The database does not answer right now";

describe.skipIf(!hasSqld()).each(["http", "ws"])(
  "Database on a server that does not answer, over %s,",
  (protocol) => {
    let server: Awaited<ReturnType<typeof startSqld>>;
    let database: Database;
    /** The arguments of `onAvailabilityChange()`, in order. */
    let availability: (string | undefined)[];
    beforeEach(async () => {
      server = await startSqld();
      availability = [];
      database = await openDatabase({
        url: server.url.replace("http", protocol),
        durability: "power",
        onAvailabilityChange: (failure) => availability.push(failure?.message),
      });
    });
    afterEach(async () => {
      await database.close();
      await server.close();
    });

    const addAccount = (name: string) =>
      database.write(
        [{ sql: "INSERT INTO accounts (name, created_at) VALUES (?, 0)", args: [name] }],
        { idempotent: true },
      );
    const settle = (call: Promise<unknown>) =>
      call.then(
        () => "done",
        ({ message }: Error) => message,
      );

    test("ends every call within its deadline and later ones at once, and recovers", async () => {
      server.pause();
      const startedAt = performance.now();
      const reads = Array.from({ length: 100 }, () => settle(database.check()));
      const outcomes = await Promise.all([...reads, settle(addAccount("a"))]);
      expect(new Set(outcomes)).toEqual(new Set([UNANSWERED]));
      expect(performance.now() - startedAt).toBeLessThan(DETECTED_WITHIN_MS);
      expect(database.getOutage()?.message).toBe(UNANSWERED);

      const laterAt = performance.now();
      expect(await settle(database.check())).toEqual(UNANSWERED);
      expect(performance.now() - laterAt).toBeLessThan(1000);

      server.resume();
      await retryWithin(RECOVERED_WITHIN_MS, database.check);
      expect(database.getOutage()).toBeUndefined();
      expect(availability).toEqual([UNANSWERED, undefined]);
    }, 30_000);

    test("isRolledBack() is true only for a write that was never sent", async () => {
      server.pause();
      const sent = await addAccount("sent").catch((error: unknown) => error);
      const unsent = await addAccount("unsent").catch((error: unknown) => error);
      expect([database.isRolledBack(sent), database.isRolledBack(unsent)]).toEqual([false, true]);
      server.resume();
      await retryWithin(RECOVERED_WITHIN_MS, database.check);
      const rows = await database.queryRows("SELECT name FROM accounts WHERE name = 'unsent'");
      expect(rows).toEqual([]);
    }, 30_000);
  },
);

describe.skipIf(!hasSqld())("openRemoteConnection()", () => {
  test("is dead only without an answer to a ping, also if the ping came before it was open", async () => {
    const server = await startSqld();
    const connection = openRemoteConnection({ url: server.url });
    const select = { sql: "SELECT 1", args: [] };
    connection.ping(0);
    await connection.execute(select);
    expect(connection.isDead(60_000)).toBe(false);
    connection.ping(60_000);
    await retryWithin(RECOVERED_WITHIN_MS, async () => {
      expect(connection.isDead(120_000)).toBe(false);
    });
    server.pause();
    connection.ping(120_000);
    await Bun.sleep(100);
    expect([connection.isDead(121_000), connection.isDead(122_000)]).toEqual([false, true]);
    connection.close();
    await server.close();
  }, 30_000);
});
