import { expect, test } from "bun:test";
import { NotSentError } from "../../../server/store/database/errors.ts";
import {
  createCallQueue,
  type QueuedCall,
} from "../../../server/store/database/remote/call-queue.ts";

const connection = {
  execute: () => Promise.reject(new Error("No call is expected")),
  batch: () => Promise.reject(new Error("No call is expected")),
  isClosed: () => false,
  close: () => undefined,
};

test("createCallQueue() rejects a waiting call whose connection cannot be opened, and sends the next one", async () => {
  let failures = 0;
  let opened = 0;
  const queue = createCallQueue({
    openConnection() {
      if (++opened === 2) throw new Error("There are no free sockets");
      return connection;
    },
    inFlightMax: 1,
    unsuspectedMax: 1,
    getTick: () => 0,
    suspectAfterTicks: 8,
    onFailure: () => void failures++,
  });
  const enqueue = (send: QueuedCall["send"]) =>
    new Promise<string>((resolve, reject) => {
      const options = { enqueuedAtTick: 0, timeoutTicks: 32, isUrgent: false };
      queue.enqueue({
        ...options,
        send: (opens) => send(opens).then(() => resolve("sent")),
        reject,
      });
    });
  const calls = [
    enqueue(() => Promise.reject(new Error("The first connection broke"))),
    enqueue(async () => undefined),
    enqueue(async () => undefined),
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
