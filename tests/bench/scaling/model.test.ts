/** Checks the model: each read is answered once, queues follow Little's law, figures add up. */
import { describe, expect, test } from "bun:test";
import { COSTS } from "./figures.ts";
import { simulate } from "./model.ts";
import type { Scenario } from "./scenario.ts";

const PLAN = { warmUpMs: 100, durationMs: 1000, seed: 29 };

const SCENARIO: Scenario = {
  arrivals: { connections: 64, clientMs: 0 },
  processes: 3,
  accounts: 1000,
  committer: "each",
  entities: "joint",
  cachedShare: 0.5,
  cachedKeyShare: 0.9,
  isSynced: true,
  roundTripMs: 0,
  observationWritesPerSecond: 20,
  foldIntervalMs: 40,
  cores: 2,
  isOneMachine: false,
};

const VARIANTS: Readonly<Record<string, Partial<Scenario>>> = {
  "each process commits": {},
  "a committer": { committer: "one" },
  "an idle committer": { committer: "idle" },
  "a committer in another region": { committer: "one", roundTripMs: 10 },
  "two servers": { entities: "separate" },
  replicas: { entities: "replica", committer: "one" },
  "one machine": { isOneMachine: true },
  "a rate": { arrivals: { readsPerSecond: 2000 }, committer: "one" },
  "too high a rate": { arrivals: { readsPerSecond: 60_000 } },
};

const scenarioOf = (name: string): Scenario => ({ ...SCENARIO, ...VARIANTS[name] });

describe("simulate()", () => {
  test.each(Object.keys(VARIANTS))("answers every read once (%s)", (name) => {
    const { arrived, answered } = simulate(scenarioOf(name), COSTS, { ...PLAN, drainMs: 5000 });
    expect(arrived).toBeGreaterThan(1000);
    expect(answered).toBe(arrived);
  });

  test.each(Object.keys(VARIANTS))("gives the same run for the same seed (%s)", (name) => {
    const run = () => simulate(scenarioOf(name), COSTS, { ...PLAN, durationMs: 200 });
    expect(run()).toEqual(run());
  });

  test.each(Object.keys(VARIANTS).slice(0, 7))("follows Little's law (%s)", (name) => {
    const { meanMs, readsPerSecond } = simulate(scenarioOf(name), COSTS, PLAN);
    // A client without costs sends its next read at once, so all are always in progress.
    expect(Math.abs((readsPerSecond * meanMs) / 1000 / 64 - 1)).toBeLessThan(0.05);
  });

  test("answers the reads that arrive, as long as it is not overloaded", () => {
    const { readsPerSecond } = simulate(scenarioOf("a rate"), COSTS, PLAN);
    expect(Math.abs(readsPerSecond / 2000 - 1)).toBeLessThan(0.05);
    const overloaded = simulate(scenarioOf("too high a rate"), COSTS, PLAN);
    expect(overloaded.readsPerSecond).toBeLessThan(50_000);
  });

  test("takes the sum of all steps for a read without others", () => {
    const scenario: Scenario = {
      ...SCENARIO,
      arrivals: { readsPerSecond: 1 },
      cachedShare: 0,
      cachedKeyShare: 1,
      roundTripMs: 10,
      observationWritesPerSecond: 0,
    };
    const { p50Ms } = simulate(scenario, COSTS, { ...PLAN, durationMs: 100_000 });
    const service =
      3 * COSTS.wakeService + COSTS.readService + COSTS.commitService + COSTS.missService;
    const server = COSTS.commitServer + COSTS.syncServer + COSTS.syncWait + COSTS.missServer;
    expect(p50Ms).toBeCloseTo(service + server + 2 * 10, 6);
  });

  test("commits the reads of several processes together with a committer", () => {
    const given = { ...SCENARIO, cachedShare: 1, observationWritesPerSecond: 0 };
    const alone = simulate(given, COSTS, PLAN);
    const together = simulate({ ...given, committer: "one" }, COSTS, PLAN);
    expect(together.commits).toBeLessThan(0.7 * alone.commits);
    expect(together.serverMs).toBeLessThan(0.7 * alone.serverMs);
    expect(together.p50Ms).toBeLessThan(0.7 * alone.p50Ms);
  });

  test("counts processor time that adds up to that of the commits and reads", () => {
    const given: Scenario = { ...SCENARIO, accounts: 1, cachedKeyShare: 1, processes: 1 };
    const run = simulate({ ...given, observationWritesPerSecond: 0, cachedShare: 0 }, COSTS, PLAN);
    const commitMs = COSTS.commitServer + COSTS.syncServer;
    const expected = run.commits * commitMs + 1000 * COSTS.missServer;
    expect(Math.abs(run.serverMs / expected - 1)).toBeLessThan(0.02);
  });
});
