import { describe, expect, test } from "bun:test";
import { createBatchBuilder } from "../../../server/observation-batches/observation-batch.ts";
import { createBatchCutter } from "../../../server/store/observations/batch-parts.ts";

const ENTITIES = 20_000;
/** How long a simulated write takes for each unit of cost. */
const MS_PER_COST = 0.002;
/** The first parts adapt to a target, and a part is rarely cut exactly. */
const SETTLING_PARTS = 10;
const TOLERANCE = 1.6;

function createBatches() {
  const builder = createBatchBuilder();
  for (let nth = 0; nth < ENTITIES * 5; nth++) {
    const entityId = `UC${nth % ENTITIES}`;
    builder.add({ kind: "channel", entityId, observedAt: nth, attributes: {}, counts: {} });
  }
  return builder.build();
}

/** Cuts batches and reports how long each part takes, and more if it waits. */
function simulateWrites(getTargetMs: (nth: number) => number, getWaitMs: (nth: number) => number) {
  const durationsMs: number[] = [];
  const cutter = createBatchCutter(() => getTargetMs(durationsMs.length));
  let observationCount = 0;
  for (const part of cutter.cut(createBatches())) {
    for (const { instants } of part.batches) observationCount += instants.length;
    durationsMs.push(part.cost * MS_PER_COST);
    cutter.adapt(part, part.cost * MS_PER_COST + getWaitMs(durationsMs.length));
  }
  expect(observationCount).toBe(ENTITIES * 5);
  return durationsMs.slice(0, -1);
}

function expectNear(durationsMs: readonly number[], targetMs: number) {
  expect(durationsMs.length).toBeGreaterThan(SETTLING_PARTS);
  expect(Math.max(...durationsMs)).toBeLessThan(targetMs * TOLERANCE);
  expect(Math.min(...durationsMs)).toBeGreaterThan(targetMs / TOLERANCE);
}

describe("createBatchCutter()", () => {
  test("cuts parts that take the time of the target, whenever it changes", () => {
    const durationsMs = simulateWrites(
      (nth) => (nth < 30 ? 10 : 4),
      () => 0,
    );
    expectNear(durationsMs.slice(SETTLING_PARTS, 30), 10);
    expectNear(durationsMs.slice(30 + SETTLING_PARTS), 4);
  });

  test("cuts no smaller parts when every third one waits for a checkpoint", () => {
    const durationsMs = simulateWrites(
      () => 4,
      (nth) => (nth % 3 === 0 ? 20 : 0),
    );
    expectNear(durationsMs.slice(SETTLING_PARTS), 4);
  });

  test("cuts one part by default", () => {
    expect([...createBatchCutter().cut(createBatches())]).toHaveLength(1);
  });
});
