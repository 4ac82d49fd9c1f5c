/** Checks the group commit and the writer of the simulation. */
import { describe, expect, test } from "bun:test";
import { COSTS } from "./figures.ts";
import { createGroupCommit, createWriter } from "./group-commit.ts";
import { createMachine, createSimulator, createThread } from "./simulator.ts";

function setUp() {
  const simulator = createSimulator(1);
  const machine = createMachine(simulator, 2);
  return { simulator, machine, thread: createThread(machine) };
}

describe("createGroupCommit()", () => {
  test("commits what waits together, up to a size, with a number of commits in flight", () => {
    const { simulator, thread } = setUp();
    const groups: { readonly at: number; readonly items: readonly number[] }[] = [];
    const commits = createGroupCommit<number>(
      simulator,
      thread,
      { sizeMax: 3, inFlightMax: 2 },
      (items, startNext) => {
        groups.push({ at: simulator.now(), items });
        simulator.schedule(10, startNext);
      },
    );
    commits.add(1);
    commits.add(2);
    for (const item of [3, 4, 5, 6, 7, 8]) simulator.schedule(item, () => commits.add(item));
    simulator.runUntil(100);
    expect(groups).toEqual([
      { at: 0, items: [1, 2] },
      { at: 3, items: [3] },
      { at: 10, items: [4, 5, 6] },
      { at: 13, items: [7, 8] },
    ]);
  });

  test("waits for more after a large group, until as many wait as are expected", () => {
    const { simulator, thread } = setUp();
    const groups: string[] = [];
    const getPauseMs = (items: readonly number[]) => (items.length > 1 ? 5 : 0);
    const commits = createGroupCommit<number>(
      simulator,
      thread,
      { sizeMax: 9, inFlightMax: 1, getPauseMs, expected: 3 },
      (items, startNext) => {
        groups.push(`${simulator.now()}: ${items.join()}`);
        simulator.schedule(10, startNext);
      },
    );
    for (const item of [0, 0, 11, 12, 13, 14, 24, 36])
      simulator.schedule(item, () => commits.add(item));
    simulator.runUntil(100);
    expect(groups).toEqual(["0: 0,0", "13: 11,12,13", "28: 14,24", "43: 36"]);
  });
});

describe("createWriter()", () => {
  test("runs transactions one after another, and pauses before one of another connection", () => {
    const { simulator, machine } = setUp();
    const writer = createWriter(simulator, machine, COSTS);
    const ended: string[] = [];
    const write = (name: string, connection: number) =>
      writer.commit({ connection, workMs: 1, isSynced: false }, () =>
        ended.push(`${name} ${simulator.now().toFixed(2)}`),
      );
    for (const [name, connection] of Object.entries({ a: 1, b: 1, c: 2, d: 1 })) {
      write(name, connection);
    }
    simulator.runUntil(10);
    write("e", 2);
    simulator.runUntil(20);
    const handoffMs = COSTS.handoffPause + COSTS.handoffServer;
    expect(ended).toEqual([
      "a 1.00",
      "b 2.00",
      `c ${(3 + handoffMs).toFixed(2)}`,
      `d ${(4 + 2 * handoffMs).toFixed(2)}`,
      "e 11.00",
    ]);
    expect(writer.countGroups()).toBe(5);
    expect(writer.getHeldMs()).toBeCloseTo(5 + 2 * handoffMs, 6);
  });

  test("waits for the disk after a synced transaction", () => {
    const { simulator, machine } = setUp();
    const writer = createWriter(simulator, machine, COSTS);
    writer.write({ connection: 1, workMs: 1, isSynced: true }, () => undefined);
    simulator.runUntil(10);
    expect(writer.getHeldMs()).toBeCloseTo(1 + COSTS.syncServer + COSTS.syncWait, 6);
    expect(machine.getBusyMs()).toBeCloseTo(1 + COSTS.syncServer, 6);
  });
});
