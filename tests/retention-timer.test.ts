import { expect, test } from "bun:test";
import { runRetention } from "../server/retention-timer.ts";
import type { RetentionReport } from "../core/retention.ts";

const REPORT: RetentionReport = { mode: "apply", kinds: [], isWholeCompared: false, faults: [] };

test("runRetention() walks to the end by itself, and tells what was found", async () => {
  const told: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<RetentionReport>();
  const fault = { kind: "user", problem: "it is broken" } as const;
  const end = runRetention({
    async *apply() {
      yield 1;
      return { ...REPORT, faults: [fault] };
    },
    onApplied: resolve,
    onFailure: (error) => void told.push(String(error)),
    firstAfterMs: 1,
  });
  expect((await promise).faults).toEqual([fault]);
  expect(told).toEqual(["Error: Retention of user: it is broken"]);
  await end();
});

test("runRetention() ends after the step that is under way", async () => {
  const begun = Promise.withResolvers<void>();
  let steps = 0;
  const end = runRetention({
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
    firstAfterMs: 1,
  });
  await begun.promise;
  await end();
  const atEnd = steps;
  await Bun.sleep(30);
  expect(steps).toBe(atEnd);
});

test("runRetention() tells of a walk that failed", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const end = runRetention({
    // oxlint-disable-next-line require-yield
    async *apply() {
      throw new Error("no disk");
    },
    onApplied: () => undefined,
    onFailure: resolve,
    firstAfterMs: 1,
  });
  expect(String(await promise)).toBe("Error: no disk");
  await end();
});

test("runRetention() does nothing once ended before its first walk", async () => {
  let isAsked = false;
  const end = runRetention({
    async *apply() {
      isAsked = true;
      yield 1;
      return REPORT;
    },
    onApplied: () => undefined,
    onFailure: () => undefined,
    firstAfterMs: 5,
  });
  await end();
  await Bun.sleep(20);
  expect(isAsked).toBe(false);
});
