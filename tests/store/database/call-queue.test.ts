import { expect, test } from "bun:test";
import { ResponseError } from "@libsql/hrana-client";
import { resultOrError } from "../../support/store/database.ts";
import { NotSentError } from "../../../server/store/database/errors.ts";
import { createCallQueue } from "../../../server/store/database/remote/call-queue.ts";

const connection = {
  execute: () => Promise.reject(new Error("No call is expected")),
  batch: () => Promise.reject(new Error("No call is expected")),
  findDurabilityFault: () => Promise.reject(new Error("No call is expected")),
  isClosed: () => false,
  ping: () => undefined,
  isDead: () => false,
  retire: () => undefined,
  close: () => undefined,
};

test("createCallQueue() rejects a waiting call whose connection cannot be opened, and sends the next one", async () => {
  let failures = 0;
  let opened = 0;
  const queue = createCallQueue({
    openConnection() {
      if (++opened === 2) throw new Error("There are no free sockets");
      let isClosed = false;
      return { ...connection, isClosed: () => isClosed, close: () => void (isClosed = true) };
    },
    inFlightMax: 1,
    unsuspectedMax: 1,
    now: () => 0,
    onFailure: () => void failures++,
  });
  const run = (operation: () => Promise<string>) => queue.run(operation, { timeoutMs: 8000 });
  const calls = [
    run(() => Promise.reject(new Error("The first connection broke"))),
    run(async () => "not reached"),
    run(async () => "sent"),
  ];
  const [broken, unopened, sent] = await Promise.all(
    calls.map((call) => call.catch((error) => error)),
  );
  expect(broken).toMatchObject({ message: "The first connection broke" });
  expect(unopened).toBeInstanceOf(NotSentError);
  expect(unopened.message).toBe("The database is not available right now");
  expect(sent).toBe("sent");
  expect([failures, queue.isIdle()]).toEqual([1, true]);
});

test("createCallQueue() ends a call whose connection answers no ping, and not one that is slow", async () => {
  let now = 0;
  const closed: string[] = [];
  /** A connection that answers pings at once or never: then it is dead a second later. */
  const openSilentConnection = (name: string, answersPings: boolean) => {
    let pingedAt = Number.POSITIVE_INFINITY;
    return {
      ...connection,
      ping: (at: number) => void (answersPings || (pingedAt = Math.min(pingedAt, at))),
      isDead: (at: number) => at - pingedAt >= 1000,
      close: () => void closed.push(name),
    };
  };
  const connections = [openSilentConnection("slow", true), openSilentConnection("dead", false)];
  const queue = createCallQueue({
    openConnection: () => connections.shift() ?? connection,
    inFlightMax: 2,
    unsuspectedMax: 2,
    now: () => now,
    onFailure: () => undefined,
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = queue.run(() => promise, { timeoutMs: 8000 });
  const dead = resultOrError(queue.run(() => promise, { timeoutMs: 8000 }));
  const runUntil = (end: number) => {
    for (; now < end; now += 100) queue.handleTick();
  };
  runUntil(1000);
  expect(closed).toEqual([]);
  runUntil(1100);
  expect(closed).toEqual(["dead"]);
  expect(await dead).toEqual(["Service Unavailable", "The database does not answer right now"]);
  runUntil(7000);
  resolve("answered");
  expect(await slow).toBe("answered");
});

/** Creates a queue with one connection, whose calls end when the test says so. */
function createPipeline(pipelinedMax: number) {
  const sent: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const opened: { closed: boolean; retired?: true }[] = [];
  const queue = createCallQueue({
    openConnection() {
      const state: (typeof opened)[number] = { closed: false };
      opened.push(state);
      return {
        ...connection,
        isClosed: () => state.closed || state.retired === true,
        retire: () => void (state.retired = true),
        close: () => void (state.closed = true),
      };
    },
    inFlightMax: 1,
    unsuspectedMax: 1,
    pipelinedMax,
    now: () => 0,
    onFailure: () => undefined,
  });
  const run = (name: string, isPipelined: boolean) => {
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    const operation = () => {
      sent.push(name);
      return end.promise;
    };
    return queue.run(operation, { timeoutMs: 8000, isUrgent: isPipelined, isPipelined });
  };
  return { queue, sent, opened, run, end: (name: string) => ends.get(name) };
}

test("createCallQueue() sends pipelined calls on one connection, in order, up to a maximum", async () => {
  const { queue, sent, opened, run, end } = createPipeline(3);
  const calls = ["1", "2", "3", "4"].map((name) => run(name, true));
  expect(sent).toEqual(["1", "2", "3"]);
  end("2")?.resolve("done");
  expect(await calls[1]).toBe("done");
  await Bun.sleep(0);
  expect(sent).toEqual(["1", "2", "3", "4"]);
  for (const name of ["1", "3", "4"]) end(name)?.resolve("done");
  await Promise.all(calls);
  expect(opened).toEqual([{ closed: false }]);
  expect(queue.isIdle()).toBe(true);
});

test("createCallQueue() pipelines no call with one that is not pipelined, whichever is first", async () => {
  const { sent, opened, run, end } = createPipeline(3);
  const calls = [run("slow", false), run("fast", true)];
  expect(sent).toEqual(["slow"]);
  end("slow")?.resolve("done");
  await calls[0];
  await Bun.sleep(0);
  calls.push(run("slow again", false), run("fast again", true));
  expect(sent).toEqual(["slow", "fast", "fast again"]);
  end("fast")?.resolve("done");
  await calls[1];
  await Bun.sleep(0);
  expect(sent).toHaveLength(3);
  end("fast again")?.resolve("done");
  await calls[3];
  await Bun.sleep(0);
  expect(sent.at(-1)).toBe("slow again");
  end("slow again")?.resolve("done");
  await calls[2];
  expect(opened).toHaveLength(1);
});

test("createCallQueue() sends no more calls on a connection of which one call failed", async () => {
  const { sent, opened, run, end } = createPipeline(2);
  const calls = [run("1", true), run("2", true), run("3", true)];
  end("1")?.reject(new Error("The connection broke"));
  await expect(calls[0]).rejects.toThrow("The connection broke");
  expect(opened).toEqual([{ closed: true }]);
  expect(sent).toEqual(["1", "2"]);
  end("2")?.reject(new Error("The connection is closed"));
  await expect(calls[1]).rejects.toThrow("The connection is closed");
  expect(sent).toEqual(["1", "2", "3"]);
  expect(opened).toEqual([{ closed: true }, { closed: false }]);
  end("3")?.resolve("done");
  expect(await calls[2]).toBe("done");
});

test("createCallQueue() lets calls end that follow one that the server answers with an error", async () => {
  const { sent, opened, run, end } = createPipeline(2);
  const calls = [run("1", true), run("2", true), run("3", true)];
  const message = "no such table: a";
  end("1")?.reject(new ResponseError(message, { message, code: "SQLITE_ERROR" }));
  await expect(calls[0]).rejects.toThrow(message);
  expect(opened).toEqual([{ closed: false, retired: true }]);
  expect(sent).toEqual(["1", "2"]);
  end("2")?.resolve("done");
  expect(await calls[1]).toBe("done");
  await Bun.sleep(0);
  expect(sent).toEqual(["1", "2", "3"]);
  expect(opened).toEqual([{ closed: true, retired: true }, { closed: false }]);
  end("3")?.resolve("done");
  expect(await calls[2]).toBe("done");
});

test.each([
  ["urgent", true],
  ["not urgent", false],
])(
  "createCallQueue() sends a call that is not pipelined, and %s, while others always are",
  async (_, isUrgent) => {
    const { queue } = createPipeline(4);
    const slowly = () => Bun.sleep(2);
    const over = new AbortController();
    const keepSending = async (delayMs: number) => {
      await Bun.sleep(delayMs);
      const limits = { timeoutMs: 8000, isUrgent: true, isPipelined: true };
      while (!over.signal.aborted) await queue.run(slowly, limits);
    };
    const senders = [0, 1, 1, 2, 2, 3].map(keepSending);
    await Bun.sleep(10);
    const single = queue.run(async () => "sent", { timeoutMs: 8000, isUrgent });
    const result = await Promise.race([single, Bun.sleep(1000)]);
    over.abort();
    await Promise.all([...senders, single]);
    expect(result).toBe("sent");
  },
);
