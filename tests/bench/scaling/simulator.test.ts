/** Compares the simulator with queueing theory. */
import { describe, expect, test } from "bun:test";
import { createMachine, createSimulator, createThread } from "./simulator.ts";

interface QueueCase {
  readonly load: number;
  readonly cores?: number;
  readonly isDeterministic: boolean;
}

const SERVICE_MS = 1;
const DURATION_MS = 400_000;

/** Runs a queue with Poisson arrivals, on some cores, or in a thread. */
function runQueue({ load, cores, isDeterministic }: QueueCase) {
  const simulator = createSimulator(29);
  const machine = createMachine(simulator, cores ?? 1);
  const station = cores === undefined ? createThread(machine) : machine;
  let [arrived, answered, present, presentMs, totalMs, changedAt] = [0, 0, 0, 0, 0, 0];
  const change = (by: number) => {
    presentMs += present * (simulator.now() - changedAt);
    changedAt = simulator.now();
    present += by;
  };
  const arrive = () => {
    if (simulator.now() < DURATION_MS)
      simulator.schedule(simulator.randomInterval(SERVICE_MS / load), arrive);
    const arrivedAt = simulator.now();
    arrived++;
    change(1);
    const workMs = isDeterministic ? SERVICE_MS : simulator.randomInterval(SERVICE_MS);
    station.run(workMs, () => {
      change(-1);
      answered++;
      totalMs += simulator.now() - arrivedAt;
    });
  };
  arrive();
  simulator.runUntil(DURATION_MS);
  const rate = arrived / DURATION_MS;
  const utilization = machine.getBusyMs() / DURATION_MS;
  const meanPresent = presentMs / DURATION_MS;
  simulator.runUntil(2 * DURATION_MS);
  return { arrived, answered, meanMs: totalMs / answered, meanPresent, rate, utilization };
}

const expectNear = (actual: number, expected: number, tolerance: number) =>
  expect(Math.abs(actual / expected - 1)).toBeLessThan(tolerance);

describe("createSimulator()", () => {
  test("runs events by time, and those of one instant as they were scheduled", () => {
    const simulator = createSimulator(1);
    const ran: string[] = [];
    for (const [name, at] of Object.entries({ c: 3, a: 1, b: 1, d: 3, e: 2 })) {
      simulator.schedule(at, () => void ran.push(name));
    }
    simulator.runUntil(2);
    expect(ran.join("")).toBe("abe");
    simulator.runUntil(3);
    expect(ran.join("")).toBe("abecd");
  });

  test("gives the same run for the same seed, and another one for another", () => {
    const numbers = (seed: number) => Array.from({ length: 5 }, createSimulator(seed).random);
    expect(numbers(7)).toEqual(numbers(7));
    expect(numbers(7)).not.toEqual(numbers(8));
  });
});

describe("createThread()", () => {
  test.each([0.3, 0.6, 0.8])("waits like M/M/1 at a load of %d", (load) => {
    const { meanMs } = runQueue({ load, isDeterministic: false });
    expectNear(meanMs, SERVICE_MS / (1 - load), 0.05);
  });

  test.each([0.3, 0.6, 0.8])("waits like M/D/1 at a load of %d", (load) => {
    const { meanMs } = runQueue({ load, isDeterministic: true });
    expectNear(meanMs, SERVICE_MS * (1 + load / (2 * (1 - load))), 0.05);
  });

  test("runs each job once, and Little's law holds", () => {
    const run = runQueue({ load: 0.7, isDeterministic: false });
    expect(run.answered).toBe(run.arrived);
    expectNear(run.meanPresent, run.rate * run.meanMs, 0.001);
    expectNear(run.utilization, 0.7, 0.02);
  });
});

describe("createMachine()", () => {
  test("waits like M/M/2 with two cores", () => {
    const { meanMs, utilization } = runQueue({ load: 1.4, cores: 2, isDeterministic: false });
    expectNear(meanMs, SERVICE_MS / (1 - 0.7 ** 2), 0.05);
    expectNear(utilization, 1.4, 0.02);
  });

  test("runs jobs in their order, one on each core", () => {
    const simulator = createSimulator(1);
    const machine = createMachine(simulator, 2);
    const endedAt: number[] = [];
    for (const workMs of [4, 3, 2, 2]) machine.run(workMs, () => endedAt.push(simulator.now()));
    simulator.runUntil(100);
    expect(endedAt).toEqual([3, 4, 5, 6]);
  });
});
