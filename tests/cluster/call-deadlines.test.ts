/** Calls to a libSQL server that stops answering, over both protocols. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { retryWithin } from "../support/wait.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

/** How long it may take to find out that a server is silent. */
const DETECTED_WITHIN_MS = 8000;
/** Generous, for slow machines: the long form of the tests under load holds the two seconds. */
const RECOVERED_WITHIN_MS = 15_000;

const UNANSWERED = "The database does not answer right now";

describe.skipIf(!hasSqld()).each(["http", "ws"])("calls over %s to a silent server", (protocol) => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let database: Database;
  /** What the database told of outages, in order. */
  let told: (string | undefined)[];
  beforeEach(async () => {
    server = await startSqld();
    told = [];
    database = await openDatabase({
      url: server.url.replace("http", protocol),
      durability: "power",
      onAvailabilityChange: (failure) => told.push(failure?.message),
    });
  });
  afterEach(async () => {
    await database.close();
    await server.close();
  });

  const add = (name: string) =>
    database.write(
      [{ sql: "INSERT INTO accounts (name, created_at) VALUES (?, 0)", args: [name] }],
      { idempotent: true },
    );
  const outcomeOf = (call: Promise<unknown>) =>
    call.then(
      () => "done",
      ({ message }: Error) => message,
    );

  test("every call ends within its deadline, later ones at once, and all work again", async () => {
    server.pause();
    const began = performance.now();
    const reads = Array.from({ length: 100 }, () => outcomeOf(database.check()));
    const outcomes = await Promise.all([...reads, outcomeOf(add("a"))]);
    expect(new Set(outcomes)).toEqual(new Set([UNANSWERED]));
    expect(performance.now() - began).toBeLessThan(DETECTED_WITHIN_MS);
    expect(database.getOutage()?.message).toBe(UNANSWERED);

    const later = performance.now();
    expect(await outcomeOf(database.check())).toEqual(UNANSWERED);
    expect(performance.now() - later).toBeLessThan(1000);

    server.resume();
    await retryWithin(RECOVERED_WITHIN_MS, database.check);
    expect(database.getOutage()).toBeUndefined();
    expect(told).toEqual([UNANSWERED, undefined]);
  }, 30_000);

  test("leftNothing() is true only of a write that was never sent", async () => {
    server.pause();
    const sent = await add("sent").catch((error: unknown) => error);
    const unsent = await add("unsent").catch((error: unknown) => error);
    expect([database.isRolledBack(sent), database.isRolledBack(unsent)]).toEqual([false, true]);
    server.resume();
    await retryWithin(RECOVERED_WITHIN_MS, database.check);
    const rows = await database.queryRows("SELECT name FROM accounts WHERE name = 'unsent'");
    expect(rows).toEqual([]);
  }, 30_000);
});
