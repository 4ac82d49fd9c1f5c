import { describe, expect, test } from "bun:test";
import { createEventLoopLimiter } from "../../../server/http/reads/event-loop-limiter.ts";
import { startTestService } from "../../support/service.ts";

describe("createPollCycle()", () => {
  test("lets so many through in one turn of the event loop, in the order they came", async () => {
    const turns = createEventLoopLimiter(3);
    let turn = 0;
    let isDone = false;
    const count = () => {
      turn++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const passed: [number, number][] = [];
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const wait = turns();
        if (wait !== undefined) await wait;
        passed.push([index, turn]);
      }),
    );
    isDone = true;
    expect(passed.map(([index]) => index)).toEqual(Array.from({ length: 10 }, (_, at) => at));
    const perTurn = [...Map.groupBy(passed, ([, at]) => at).values()].map((of) => of.length);
    expect(perTurn).toEqual([3, 3, 3, 1]);
  });

  test("where none waits, the next turn lets as many through at once", async () => {
    const turns = createEventLoopLimiter(2);
    expect([turns(), turns()]).toEqual([undefined, undefined]);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect([turns(), turns()]).toEqual([undefined, undefined]);
    expect(turns()).toBeInstanceOf(Promise);
  });
});

describe("reads that one commit pays for", () => {
  test("are made a few in a turn: others come in between, however many they are", async () => {
    const { service, key, close } = await startTestService();
    let turn = 0;
    let isDone = false;
    const count = () => {
      turn++;
      if (!isDone) setImmediate(count);
    };
    const read = async (_: unknown, index: number) => {
      const url = `http://localhost/api/video/channels?${index}`;
      const response = await service.fetch(new Request(url, { headers: { "x-api-key": key } }));
      return { at: turn, status: response.status };
    };
    await read(undefined, -1);
    setImmediate(count);
    const answers = await Promise.all(Array.from({ length: 100 }, read));
    isDone = true;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const perTurn = [...Map.groupBy(answers, ({ at }) => at).values()].map((of) => of.length);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(24);
    await close();
  });
});
