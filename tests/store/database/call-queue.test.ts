import { expect, test } from "bun:test";
import { NotSentError } from "../../../server/store/database/errors.ts";
import { createCallQueue } from "../../../server/store/database/remote/call-queue.ts";

const connection = {
  execute: () => Promise.reject(new Error("No call is expected")),
  batch: () => Promise.reject(new Error("No call is expected")),
  findDurabilityFault: () => Promise.reject(new Error("No call is expected")),
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
