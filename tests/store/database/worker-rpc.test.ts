/** A thread of the process: orders are answered, whatever becomes of the thread. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createWorkerClient } from "../../../server/store/database/worker-rpc.ts";
import type { TestWorkerRequest } from "../../support/store/test-worker.ts";

const TEST_WORKER_PATH = join(import.meta.dir, "../../support/store/test-worker.ts");
const WORKER_RPC_PATH = join(import.meta.dir, "../../../server/store/database/worker-rpc.ts");

const openTestWorker = (file = TEST_WORKER_PATH) => {
  const sendRequest = createWorkerClient<TestWorkerRequest, string>(Bun.pathToFileURL(file));
  return (request: TestWorkerRequest, isText = true) => sendRequest(request, { isJson: isText });
};

/** What orders came to. */
async function settleAll(responses: readonly Promise<string>[]): Promise<string[]> {
  const settled = await Promise.allSettled(responses);
  return settled.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)));
}

describe("an order", () => {
  test("is answered, as text and as it is", async () => {
    const give = openTestWorker();
    expect(await settleAll([give("answer"), give("answer", false)])).toEqual(["answer", "answer"]);
  });

  test("that fails is told with its message and code, and those after it are done", async () => {
    const give = openTestWorker();
    const failed = give("fail");
    expect(await settleAll([failed, give("answer")])).toEqual([
      "WorkerError: It did not work",
      "answer",
    ]);
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: "E_TEST" });
  });

  test.each(["exit", "throw later"] as const)(
    "that ends the thread (%s) fails, or is answered, as do those behind it; the next have a new thread",
    async (deadly) => {
      const give = openTestWorker();
      expect(await give("answer")).toBe("answer");
      const outcomes = await settleAll([give(deadly), give("answer"), give("answer")]);
      const isTold = (outcome: string) =>
        ["answer", deadly].includes(outcome) || outcome.startsWith("Error: ");
      expect(outcomes.filter(isTold)).toEqual(outcomes);
      if (deadly === "exit") expect(outcomes[0]).toBe("Error: The thread ended");
      expect(await give("answer")).toBe("answer");
    },
  );

  test("fails where the thread's file is missing", async () => {
    const [outcome] = await settleAll([openTestWorker("/nowhere/thread.ts")("answer")]);
    expect(outcome).toStartWith("Error: ");
  });

  test.skipIf(Bun.which("bash") === null)(
    "fails where no descriptors are left for a thread, and the process goes on",
    async () => {
      const script = `
        import { closeSync, openSync } from "node:fs";
        import { createWorkerClient } from ${JSON.stringify(WORKER_RPC_PATH)};
        const give = createWorkerClient(Bun.pathToFileURL(${JSON.stringify(TEST_WORKER_PATH)}));
        const opened = [];
        try {
          for (;;) opened.push(openSync("/dev/null", "r"));
        } catch {}
        await give("answer", { isJson: true }).catch(({ code }) => console.log(code));
        for (const descriptor of opened) closeSync(descriptor);
        console.log(await give("answer", { isJson: true }));
      `;
      const command = ["bash", "-c", 'ulimit -n 64 && exec "$@"', "bash", process.execPath];
      const child = Bun.spawn([...command, "-e", script], { stdout: "pipe" });
      expect(await new Response(child.stdout).text()).toBe("EMFILE\nanswer\n");
      expect(await child.exited).toBe(0);
    },
  );

  test("that cannot be posted fails, and keeps no process alive", async () => {
    const script = `
      import { createWorkerClient } from ${JSON.stringify(WORKER_RPC_PATH)};
      const give = createWorkerClient(Bun.pathToFileURL(${JSON.stringify(TEST_WORKER_PATH)}));
      console.log(await give("answer", { isJson: true }));
      await give(() => 7, { isJson: false }).catch(({ name }) => console.log(name));
    `;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toBe("answer\nDataCloneError\n");
    expect(await child.exited).toBe(0);
  });
});
