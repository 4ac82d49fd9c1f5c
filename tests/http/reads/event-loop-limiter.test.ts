import { describe, expect, test } from "bun:test";
import { createEventLoopLimiter } from "../../../server/http/reads/event-loop-limiter.ts";
import { startTestService } from "../../support/service.ts";

describe("createEventLoopLimiter()", () => {
  test("gives so many slots in one iteration of the event loop, in the order of the calls", async () => {
    const waitForSlot = createEventLoopLimiter(3);
    let iteration = 0;
    let isDone = false;
    const count = () => {
      iteration++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const passed: [number, number][] = [];
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const wait = waitForSlot();
        if (wait !== undefined) await wait;
        passed.push([index, iteration]);
      }),
    );
    isDone = true;
    expect(passed.map(([index]) => index)).toEqual(Array.from({ length: 10 }, (_, at) => at));
    const perIteration = [...Map.groupBy(passed, ([, at]) => at).values()].map(
      (group) => group.length,
    );
    expect(perIteration).toEqual([3, 3, 3, 1]);
  });

  test("gives all slots at once in the next iteration if nobody waits", async () => {
    const waitForSlot = createEventLoopLimiter(2);
    expect([waitForSlot(), waitForSlot()]).toEqual([undefined, undefined]);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect([waitForSlot(), waitForSlot()]).toEqual([undefined, undefined]);
    expect(waitForSlot()).toBeInstanceOf(Promise);
  });
});

describe("GET /api/video/channels", () => {
  test("200: of 100 reads that one commit charges, only a few run in one iteration", async () => {
    const { service, key, close } = await startTestService();
    let iteration = 0;
    let isDone = false;
    const count = () => {
      iteration++;
      if (!isDone) setImmediate(count);
    };
    const read = async (_: unknown, index: number) => {
      // Reads of one response share its query, and end together.
      const url = `http://localhost/api/video/channels?limit=${index + 1}`;
      const response = await service.fetch(new Request(url, { headers: { "x-api-key": key } }));
      return { at: iteration, status: response.status };
    };
    await read(undefined, 0);
    setImmediate(count);
    const responses = await Promise.all(Array.from({ length: 100 }, read));
    isDone = true;
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const perIteration = [...Map.groupBy(responses, ({ at }) => at).values()].map(
      (group) => group.length,
    );
    expect(Math.max(...perIteration)).toBeLessThanOrEqual(24);
    await close();
  });
});
