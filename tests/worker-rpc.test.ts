/** Requests to a worker thread: results, errors, and a worker that dies or cannot start. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createWorkerClient } from "../server/worker-rpc.ts";
import type { TestWorkerRequest } from "./support/store/test-worker.ts";

const TEST_WORKER_PATH = join(import.meta.dir, "./support/store/test-worker.ts");
const WORKER_RPC_PATH = join(import.meta.dir, "../server/worker-rpc.ts");

const JSON_POST = { isJson: true } as const;

const createTestClient = (file = TEST_WORKER_PATH, timeoutMs?: number) =>
  createWorkerClient<TestWorkerRequest, string>(
    Bun.pathToFileURL(file),
    timeoutMs === undefined ? {} : { timeoutMs },
  );

/** The results of requests, and the errors as text. */
async function settleAll(responses: readonly Promise<string>[]): Promise<string[]> {
  const settled = await Promise.allSettled(responses);
  return settled.map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value : String(outcome.reason),
  );
}

describe("createWorkerClient()", () => {
  test("sends requests as JSON and as objects", async () => {
    const { call: send } = createTestClient();
    const responses = [send("answer", JSON_POST), send("answer", { isJson: false })];
    expect(await settleAll(responses)).toEqual(["answer", "answer"]);
  });

  test("throws the message and code of an error in the worker, and goes on", async () => {
    const { call: send } = createTestClient();
    const failed = send("fail", JSON_POST);
    expect(await settleAll([failed, send("answer", JSON_POST)])).toEqual([
      "Error: E_TEST: It did not work",
      "answer",
    ]);
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: "E_TEST" });
  });

  test.each(["exit", "throw later"] as const)(
    "settles all requests if the worker dies (%s), and starts another with the next request",
    async (deadly) => {
      const { call: send } = createTestClient();
      expect(await send("answer", JSON_POST)).toBe("answer");
      const requests = [deadly, "answer", "answer"] as const;
      const outcomes = await settleAll(requests.map((request) => send(request, JSON_POST)));
      const isSettled = (outcome: string) =>
        ["answer", deadly].includes(outcome) || outcome.startsWith("Error: ");
      expect(outcomes.filter(isSettled)).toEqual(outcomes);
      if (deadly === "exit") expect(outcomes[0]).toBe("Error: The worker thread ended");
      expect(await send("answer", JSON_POST)).toBe("answer");
    },
  );

  test("ends a worker that hangs, rejects all requests, and starts another with the next one", async () => {
    const { call: send } = createTestClient(TEST_WORKER_PATH, 500);
    expect(await send("answer", JSON_POST)).toBe("answer");
    const requests = ["hang", "answer"] as const;
    const outcomes = await settleAll(requests.map((request) => send(request, JSON_POST)));
    expect(outcomes).toEqual(requests.map(() => "Error: The worker did not respond within 500 ms"));
    expect(await send("answer", JSON_POST)).toBe("answer");
  });

  test("throws if a response cannot be serialized, and goes on", async () => {
    const { call: send } = createTestClient();
    const [outcome, next] = await settleAll([
      send("answer a BigInt", JSON_POST),
      send("answer", JSON_POST),
    ]);
    expect([outcome, next]).toEqual([expect.stringMatching(/^Error: UNKNOWN: .*BigInt/), "answer"]);
  });

  test("throws if a response cannot be parsed, and goes on", async () => {
    const { call: send } = createTestClient();
    const [outcome, next] = await settleAll([
      send("answer with broken JSON", JSON_POST),
      send("answer", JSON_POST),
    ]);
    expect([outcome, next]).toEqual([expect.stringMatching(/^SyntaxError: /), "answer"]);
  });

  test("throws if the file of the worker is missing", async () => {
    const [outcome] = await settleAll([
      createTestClient("/nowhere/worker.ts").call("answer", JSON_POST),
    ]);
    expect(outcome).toStartWith("Error: ");
  });

  test.skipIf(Bun.which("bash") === null)(
    "throws if no file descriptors are left for a worker, and the process goes on",
    async () => {
      const script = `
        import { closeSync, openSync } from "node:fs";
        import { createWorkerClient } from ${JSON.stringify(WORKER_RPC_PATH)};
        const { call: send } = createWorkerClient(Bun.pathToFileURL(${JSON.stringify(TEST_WORKER_PATH)}));
        const opened = [];
        try {
          for (;;) opened.push(openSync("/dev/null", "r"));
        } catch {}
        await send("answer", { isJson: true }).catch(({ code }) => console.log(code));
        for (const descriptor of opened) closeSync(descriptor);
        console.log(await send("answer", { isJson: true }));
      `;
      const command = ["bash", "-c", 'ulimit -n 64 && exec "$@"', "bash", process.execPath];
      const child = Bun.spawn([...command, "-e", script], { stdout: "pipe" });
      expect(await new Response(child.stdout).text()).toBe("EMFILE\nanswer\n");
      expect(await child.exited).toBe(0);
    },
  );

  test("throws if a request cannot be posted, and keeps no process alive", async () => {
    const script = `
      import { createWorkerClient } from ${JSON.stringify(WORKER_RPC_PATH)};
      const { call: send } = createWorkerClient(Bun.pathToFileURL(${JSON.stringify(TEST_WORKER_PATH)}));
      console.log(await send("answer", { isJson: true }));
      await send(() => 7, { isJson: false }).catch(({ name }) => console.log(name));
    `;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toBe("answer\nDataCloneError\n");
    expect(await child.exited).toBe(0);
  });
});
