import { describe, expect, test } from "bun:test";
import { createCommitPacer, type CommitPacing } from "../server/commit-pacer.ts";
import { waitUntil } from "./support/wait.ts";

const SERVER_PACING: CommitPacing = { inFlightMax: 3, getPauseMs: () => 0 };

/** Creates a pacer whose commits end when the test says so. */
function createTestPacer(pacing: CommitPacing) {
  const commits: { readonly count: number; readonly at: number; end(): void }[] = [];
  let waiting = 0;
  const pacer = createCommitPacer(pacing, (end) => {
    const count = waiting;
    waiting = 0;
    if (count > 0) commits.push({ count, at: performance.now(), end });
    return count;
  });
  const add = (count: number) => {
    waiting += count;
    pacer.wake();
  };
  const waitForCommit = async (index: number) => {
    await waitUntil(() => commits[index] !== undefined);
    const commit = commits[index];
    if (commit === undefined) throw new Error("There is no such commit");
    return commit;
  };
  return { commits, pacer, add, waitForCommit };
}

const endOfTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("createCommitPacer()", () => {
  test("starts the next commit, with all that waits, when the one before has ended", async () => {
    const { commits, pacer, add, waitForCommit } = createTestPacer(SERVER_PACING);
    add(1);
    const first = await waitForCommit(0);
    add(2);
    add(3);
    await Bun.sleep(2);
    expect(commits).toHaveLength(1);
    first.end();
    expect((await waitForCommit(1)).count).toBe(5);
    commits[1]?.end();
    await waitUntil(pacer.isIdle);
    expect(commits).toHaveLength(2);
  });

  test("starts what arrives while it finds that nothing waits any more", async () => {
    const started: string[] = [];
    const waiting = ["left", "new"];
    const pacer = createCommitPacer(SERVER_PACING, () => {
      const next = waiting.shift() ?? "";
      if (next === "left") pacer.wake();
      else started.push(next);
      return next === "left" ? 0 : 1;
    });
    pacer.wake();
    await waitUntil(() => started.length === 1);
  });

  test("waits after a commit of several for a turn that brings no more", async () => {
    const { commits, pacer, add, waitForCommit } = createTestPacer(SERVER_PACING);
    add(2);
    (await waitForCommit(0)).end();
    for (let turn = 0; turn < 5; turn++) {
      await endOfTurn();
      add(1);
    }
    expect(commits).toHaveLength(1);
    expect((await waitForCommit(1)).count).toBe(5);
    commits[1]?.end();
    await waitUntil(pacer.isIdle);
    expect(commits).toHaveLength(2);
  });

  test("starts after 2 ms if every turn brings more", async () => {
    const { commits, add, waitForCommit } = createTestPacer(SERVER_PACING);
    add(2);
    (await waitForCommit(0)).end();
    const startedAt = performance.now();
    while (commits.length === 1) {
      add(1);
      await endOfTurn();
    }
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2);
  });

  test("starts at the end of the turn after a commit of one", async () => {
    const { commits, add, waitForCommit } = createTestPacer(SERVER_PACING);
    add(1);
    (await waitForCommit(0)).end();
    await endOfTurn();
    add(1);
    await endOfTurn();
    expect(commits).toHaveLength(2);
  });

  test("starts several commits, one after another, when even the fastest took long", async () => {
    const { commits, pacer, add, waitForCommit } = createTestPacer(SERVER_PACING);
    add(1);
    const first = await waitForCommit(0);
    await Bun.sleep(10);
    first.end();
    // The pacer reads the clock just before a commit, so times count from before the second one.
    const addedAt = performance.now();
    for (let index = 1; index <= 3; index++) {
      add(1);
      await waitForCommit(index);
    }
    const [, second, third, fourth] = commits;
    expect((third?.at ?? 0) - addedAt).toBeGreaterThanOrEqual(2);
    expect((fourth?.at ?? 0) - addedAt).toBeGreaterThanOrEqual(4);
    add(1);
    await Bun.sleep(10);
    expect(commits).toHaveLength(4);
    second?.end();
    const fifth = await waitForCommit(4);
    for (const commit of [third, fourth, fifth]) commit?.end();
    await waitUntil(pacer.isIdle);
  });

  test("starts one commit at a time again after a fast one", async () => {
    const { commits, add, waitForCommit } = createTestPacer(SERVER_PACING);
    add(1);
    const slow = await waitForCommit(0);
    await Bun.sleep(10);
    slow.end();
    add(1);
    (await waitForCommit(1)).end();
    add(1);
    await waitForCommit(2);
    add(1);
    await Bun.sleep(10);
    expect(commits).toHaveLength(3);
  });

  test("waits for the pause after a commit of many requests, and not after one of few", async () => {
    const { commits, add, waitForCommit } = createTestPacer({
      inFlightMax: 1,
      getPauseMs: () => 500,
    });
    add(1);
    (await waitForCommit(0)).end();
    add(100);
    const many = await waitForCommit(1);
    expect(many.at - (commits[0]?.at ?? 0)).toBeLessThan(450);
    many.end();
    add(1);
    const next = await waitForCommit(2);
    expect(next.at - many.at).toBeGreaterThanOrEqual(495);
  });
});
