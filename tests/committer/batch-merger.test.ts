import { expect, test } from "bun:test";
import { ONE_AT_A_TIME } from "../../server/commit-pacer.ts";
import { createBatchMerger } from "../../server/committer/batch-merger.ts";
import type { RunBatch } from "../../server/store/accounts/debit-sql.ts";
import type { CommittedRuns } from "../../server/store/accounts/run-batches.ts";
import { catchError } from "../support/catch-error.ts";
import { waitUntil } from "../support/wait.ts";

const createBatch = (uid: string): RunBatch => ({
  runs: [{ account: 1, cost: 1, key: 1, endpoint: "/api/video/channels", count: 1 }],
  uid,
  now: 0,
  refunds: [],
});

const createResult = (sequence: number): CommittedRuns => ({
  outcomes: [],
  payments: [],
  changes: { sequence, tags: "[]", published: 0 },
});

test("createBatchMerger() commits what waits together, 16 at most, and gives each its own result", async () => {
  const commits: string[][] = [];
  const blocks: PromiseWithResolvers<void>[] = [];
  const merge = createBatchMerger((batches) => {
    const block = Promise.withResolvers<void>();
    blocks.push(block);
    commits.push(batches.map(({ uid }) => uid));
    return batches.map(async ({ uid }) => {
      await block.promise;
      if (uid === "3") throw new Error("Refused");
      return createResult(Number(uid));
    });
  }, ONE_AT_A_TIME);
  const first = merge(createBatch("0"));
  await waitUntil(() => commits.length === 1);
  const uids = Array.from({ length: 18 }, (_, index) => `${index + 1}`);
  const results = uids.map((uid) => merge(createBatch(uid)));
  const failure = catchError(() => results[2] ?? Promise.resolve());
  for (let index = 0; index < 3; index++) {
    await waitUntil(() => blocks[index] !== undefined);
    blocks[index]?.resolve();
  }
  expect((await first).changes.sequence).toBe(0);
  expect((await results[1])?.changes.sequence).toBe(2);
  expect(await failure).toMatchObject({ message: "Refused" });
  expect((await results[17])?.changes.sequence).toBe(18);
  expect(commits).toEqual([["0"], uids.slice(0, 16), uids.slice(16)]);
});

test("createBatchMerger() waits for the senders of recent commits, and no longer than the pause", async () => {
  const commits: number[] = [];
  const merge = createBatchMerger(
    (batches) => {
      commits.push(batches.length);
      return batches.map(async () => createResult(0));
    },
    { inFlightMax: 1, getPauseMs: () => 500 },
  );
  const many = (uid: string): RunBatch => {
    const { runs, ...batch } = createBatch(uid);
    return { ...batch, runs: runs.map((run) => Object.assign(run, { count: 20 })) };
  };
  const [first, second] = [{}, {}];
  await Promise.all([merge(many("1"), first), merge(many("2"), second)]);
  const startedAt = performance.now();
  const waiting = merge(many("3"), first);
  await Bun.sleep(50);
  expect(commits).toEqual([2]);
  await Promise.all([waiting, merge(many("4"), second)]);
  expect(commits).toEqual([2, 2]);
  expect(performance.now() - startedAt).toBeLessThan(400);
  await merge(many("5"), first);
  expect(performance.now() - startedAt).toBeGreaterThan(500);
  expect(commits).toEqual([2, 2, 1]);
});
