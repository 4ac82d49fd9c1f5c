/** Checks how loads are multiplied, and what resources are needed for. */
import { describe, expect, test } from "bun:test";
import {
  assess,
  DEPLOYMENTS,
  findBottlenecks,
  multiplyLoad,
  ONE_SERVER,
  SHARE_MAX,
  TODAY,
  type Assessment,
} from "./deployments.ts";

const [, , shortPauses = ONE_SERVER, , , fourLedgers = ONE_SERVER] = DEPLOYMENTS;
const replicas = { ...fourLedgers, ledgers: 1 };

describe("multiplyLoad()", () => {
  test("multiplies one dimension, or all", () => {
    expect(multiplyLoad(10, "accounts")).toEqual({ ...TODAY, accounts: 10_000 });
    expect(multiplyLoad(1)).toEqual(TODAY);
    expect(multiplyLoad(100)).toEqual({
      readsPerSecond: 50_000,
      accounts: 100_000,
      entities: 4_250_000,
      observationsPerDay: 16_600_000,
    });
  });
});

describe("assess()", () => {
  const expectNear = (actual: number, expected: number) =>
    expect(Math.abs(actual / expected - 1)).toBeLessThan(0.1);

  test("divides the debits among ledgers, and the observations among none", () => {
    const one = assess(multiplyLoad(10), replicas).needs;
    const four = assess(multiplyLoad(40), fourLedgers).needs;
    expectNear(four["ledger's writer"], one["ledger's writer"]);
    expectNear(four.fold, one.fold);
    expectNear(four["entities' writer"], 4 * one["entities' writer"]);
    expectNear(four.collector, 4 * one.collector);
  });

  test("folds five times as fast with short pauses", () => {
    const load = multiplyLoad(10);
    expectNear(assess(load, ONE_SERVER).needs.fold, 5 * assess(load, shortPauses).needs.fold);
  });

  test("answers fewer reads than arrive if it is overloaded", () => {
    const today = assess(TODAY, ONE_SERVER);
    expect(today.isOverloaded).toBe(false);
    expectNear(today.result.readsPerSecond, TODAY.readsPerSecond);
    const overloaded = assess(multiplyLoad(100), ONE_SERVER);
    expect(overloaded.isOverloaded).toBe(true);
    expect(overloaded.result.readsPerSecond).toBeLessThan(0.95 * overloaded.load.readsPerSecond);
  });

  test("needs at least as many processes as are busy", () => {
    for (const factor of [1, 10, 50]) {
      expect(assess(multiplyLoad(factor), fourLedgers).processShare).toBeLessThan(SHARE_MAX);
    }
  });
});

describe("findBottlenecks()", () => {
  test("lists what is needed for more than 70 %, the most needed first", () => {
    const today = assess(TODAY, ONE_SERVER);
    const withNeeds = (needs: Partial<Assessment["needs"]>): Assessment => ({
      ...today,
      needs: { ...today.needs, ...needs },
    });
    expect(findBottlenecks(today)).toEqual([]);
    expect(findBottlenecks(withNeeds({ fold: SHARE_MAX }))).toEqual([]);
    expect(findBottlenecks(withNeeds({ committer: 0.8, fold: 0.71, collector: 2 }))).toEqual([
      "collector",
      "committer",
      "fold",
    ]);
  });
});
