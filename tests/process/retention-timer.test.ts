import { expect, test } from "bun:test";
import { startRetentionTimer } from "../../server/process/retention-timer.ts";
import type { RetentionReport } from "../../server/ports/retention.ts";

const REPORT: RetentionReport = { isDryRun: false, kinds: [], faults: [] };

test("startRetentionTimer() runs to the end by itself, and reports the result", async () => {
  const reported: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<RetentionReport>();
  const fault = { kind: "user", problem: "it is broken" } as const;
  const end = startRetentionTimer({
    async *apply() {
      yield 1;
      return { ...REPORT, faults: [fault] };
    },
    onApplied: resolve,
    onFailure: (error) => void reported.push(String(error)),
    initialDelayMs: 1,
  });
  expect((await promise).faults).toEqual([fault]);
  expect(reported).toEqual(["Error: Retention of user: it is broken"]);
  await end();
});

test("startRetentionTimer() stops after the current step", async () => {
  const begun = Promise.withResolvers<void>();
  let steps = 0;
  const end = startRetentionTimer({
    async *apply() {
      for (;;) {
        steps++;
        begun.resolve();
        await Bun.sleep(5);
        yield 1;
      }
    },
    onApplied: () => undefined,
    onFailure: () => undefined,
    initialDelayMs: 1,
  });
  await begun.promise;
  await end();
  const atEnd = steps;
  await Bun.sleep(30);
  expect(steps).toBe(atEnd);
});

test("startRetentionTimer() reports a run that failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const end = startRetentionTimer({
    // oxlint-disable-next-line require-yield
    async *apply() {
      throw new Error("no disk");
    },
    onApplied: () => undefined,
    onFailure: resolve,
    initialDelayMs: 1,
  });
  expect(String(await promise)).toBe("Error: no disk");
  await end();
});

test("startRetentionTimer() does nothing when it is stopped before its first run", async () => {
  let isAsked = false;
  const end = startRetentionTimer({
    async *apply() {
      isAsked = true;
      yield 1;
      return REPORT;
    },
    onApplied: () => undefined,
    onFailure: () => undefined,
    initialDelayMs: 5,
  });
  await end();
  await Bun.sleep(20);
  expect(isAsked).toBe(false);
});
