import { describe, expect, test } from "bun:test";
import type { RetentionReport } from "../../server/store/history/retention.ts";
import { startFigures, startMaintenance } from "../../server/composition/maintenance.ts";
import type { Database } from "../../server/store/database/database.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { createChannelLines } from "../support/observation-lines.ts";
import { withDatabase } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";

const REPORT: RetentionReport = {
  isDryRun: false,
  kinds: [{ kind: "user", rule: "40d", entities: 1, before: 3, removed: 2, after: 1 }],
  faults: [{ kind: "user", problem: "it is broken" }],
};

/** Runs maintenance once, and returns what it logged. */
async function maintain(hasRetention: boolean, folded: number): Promise<unknown[]> {
  const logged: unknown[] = [];
  const folding = Promise.withResolvers<void>();
  const retaining = Promise.withResolvers<void>();
  if (!hasRetention) retaining.resolve();
  const stop = startMaintenance(
    {
      hasRetention,
      async *applyRetention() {
        yield 1;
        retaining.resolve();
        return REPORT;
      },
      async *foldJournal() {
        yield 1;
        folding.resolve();
        return folded;
      },
    },
    {
      failure: () => undefined,
      info: (message, values) => void logged.push([message, values]),
      backgroundFailure: (error, work) => void logged.push([String(error), work]),
    },
    1,
  );
  await Promise.all([folding.promise, retaining.promise]);
  await stop();
  return logged;
}

const RETAINED = [
  ["Error: Retention of user: it is broken", "Retention"],
  [
    "Retention of {kind} ({rule}) removed {removed} of {before}",
    { kind: "user", rule: "40d", before: 3, removed: 2 },
  ],
];

test("startMaintenance() folds the journal, and logs how many entries if there are any", async () => {
  expect(await maintain(false, 0)).toEqual([]);
  expect(await maintain(false, 5)).toEqual([
    ["Folded {entries} old entries of the journal", { entries: 5 }],
  ]);
});

test("startMaintenance() applies a retention policy, and logs its results and faults", async () => {
  expect(await maintain(true, 0)).toEqual(RETAINED);
});

/** Starts maintenance that only folds the journal. @param onLog Receives what it logs. */
function startFolding(
  foldJournal: () => AsyncGenerator<unknown, number>,
  onLog: (logged: unknown) => void = () => undefined,
  initialDelayMs = 1,
) {
  return startMaintenance(
    { hasRetention: false, foldJournal, applyRetention: () => expect.unreachable() },
    {
      failure: () => undefined,
      info: (_, values) => onLog(values),
      backgroundFailure: (error, work) => onLog([String(error), work]),
    },
    initialDelayMs,
  );
}

test("startMaintenance() runs to the end by itself, and reports the result", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const end = startFolding(async function* () {
    yield 1;
    return 7;
  }, resolve);
  expect(await promise).toEqual({ entries: 7 });
  await end();
});

test("startMaintenance() stops after the current step", async () => {
  const begun = Promise.withResolvers<void>();
  let steps = 0;
  const end = startFolding(async function* () {
    for (;;) {
      steps++;
      begun.resolve();
      await Bun.sleep(5);
      yield 1;
    }
  });
  await begun.promise;
  await end();
  const atEnd = steps;
  await Bun.sleep(30);
  expect(steps).toBe(atEnd);
});

test("startMaintenance() reports a run that failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  // oxlint-disable-next-line require-yield
  const end = startFolding(async function* () {
    throw new Error("no disk");
  }, resolve);
  expect(await promise).toEqual(["Error: no disk", "Folding the journal"]);
  await end();
});

test("startMaintenance() does nothing when it is stopped before its first run", async () => {
  let isAsked = false;
  const folding = async function* () {
    isAsked = true;
    yield 1;
    return 1;
  };
  await startFolding(folding, undefined, 5)();
  await Bun.sleep(20);
  expect(isAsked).toBe(false);
});

describe("startFigures()", () => {
  const silent = { failure: (error: unknown) => expect.unreachable(String(error)) };

  /** Imports channels, and computes their figures in the background. */
  const withStaleFigures = (
    work: (countStale: () => Promise<number>, database: Database) => Promise<void>,
  ) =>
    withDatabase(async (database) => {
      const lines = createChannelLines(100_000).join("\n");
      await createImporter(database, Date.now)(new TextEncoder().encode(lines));
      const countStale = async () => {
        const [row] = await database.queryRows("SELECT count(*) AS n FROM stale_channel_figures");
        return Number(row?.["n"]);
      };
      expect(await countStale()).toBeGreaterThan(0);
      await work(countStale, database);
    });

  test("waits for the end of an import", () =>
    withStaleFigures(async (countStale, database) => {
      const stale = await countStale();
      let isImporting = true;
      let asked = 0;
      const stop = startFigures(database, () => (asked++, isImporting), silent, { intervalMs: 1 });
      try {
        await waitUntil(() => asked >= 5);
        expect(await countStale()).toBe(stale);
        isImporting = false;
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));

  test("does not wait longer than its limit", () =>
    withStaleFigures(async (countStale, database) => {
      const times = { intervalMs: 1, delayMaxMs: 20 };
      const stop = startFigures(database, () => true, silent, times);
      try {
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));

  test("stops between two steps when an import begins, and goes on after it", () =>
    withStaleFigures(async (countStale, database) => {
      const stale = await countStale();
      let asked = 0;
      let isOver = false;
      // The first question precedes the run, the second one follows its first step.
      const isImporting = () => ++asked > 1 && !isOver;
      const stop = startFigures(database, isImporting, silent, { intervalMs: 1 });
      try {
        await waitUntil(() => asked >= 4);
        const left = await countStale();
        expect(left).toBeLessThan(stale);
        expect(left).toBeGreaterThan(0);
        isOver = true;
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));
});
