import { expect, test } from "bun:test";
import type { RetentionReport } from "../../server/store/history/retention.ts";
import { startDailyRun, startMaintenance } from "../../server/composition/maintenance.ts";

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

test("startDailyRun() runs to the end by itself, and reports the result", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const end = startDailyRun({
    async *run() {
      yield 1;
      return "done";
    },
    onDone: resolve,
    onFailure: () => undefined,
    initialDelayMs: 1,
  });
  expect(await promise).toBe("done");
  await end();
});

test("startDailyRun() stops after the current step", async () => {
  const begun = Promise.withResolvers<void>();
  let steps = 0;
  const end = startDailyRun({
    async *run() {
      for (;;) {
        steps++;
        begun.resolve();
        await Bun.sleep(5);
        yield 1;
      }
    },
    onDone: () => undefined,
    onFailure: () => undefined,
    initialDelayMs: 1,
  });
  await begun.promise;
  await end();
  const atEnd = steps;
  await Bun.sleep(30);
  expect(steps).toBe(atEnd);
});

test("startDailyRun() reports a run that failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const end = startDailyRun({
    // oxlint-disable-next-line require-yield
    async *run() {
      throw new Error("no disk");
    },
    onDone: () => undefined,
    onFailure: resolve,
    initialDelayMs: 1,
  });
  expect(String(await promise)).toBe("Error: no disk");
  await end();
});

test("startDailyRun() does nothing when it is stopped before its first run", async () => {
  let isAsked = false;
  const end = startDailyRun({
    async *run() {
      isAsked = true;
      yield 1;
    },
    onDone: () => undefined,
    onFailure: () => undefined,
    initialDelayMs: 5,
  });
  await end();
  await Bun.sleep(20);
  expect(isAsked).toBe(false);
});
