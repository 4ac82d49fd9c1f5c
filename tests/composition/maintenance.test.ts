import { expect, test } from "bun:test";
import type { RetentionReport } from "../../server/store/history/retention.ts";
import { startMaintenance } from "../../server/composition/maintenance.ts";

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
