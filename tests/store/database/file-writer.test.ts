/** Checkpoints have a time of their own between commits, and a file is closed after them. */
import { describe, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { openFileWriter } from "../../../server/store/database/file-writer.ts";
import { queryFromOtherProcess, withDatabase } from "../../support/store/database.ts";

const insertKeys = (from: number, count: number) => ({
  sql: `
    INSERT INTO keys (account, hash, begins_with, created_at)
    SELECT 1, 'hash ' || value, 'cm_', 0
    FROM generate_series(?, ?)`,
  args: [from, from + count - 1],
});

const COUNT_KEYS = "SELECT count(*) AS n FROM keys";

describe("openFileWriter()", () => {
  test("write() resolves after the checkpoint that is due, so the log stays short", async () => {
    await withDatabase(async (database, file) => {
      const sizes: number[] = [];
      for (let nth = 0; nth < 60; nth++) {
        await database.write([insertKeys(nth * 1000, 1000)]);
        sizes.push((await stat(`${file}-wal`)).size);
      }
      // What was checkpointed is overwritten: the log is no longer than the longest write.
      expect(Math.max(...sizes)).toBeLessThan(2_000_000);
      expect((await stat(file)).size).toBeGreaterThan(3_000_000);
      expect(await queryFromOtherProcess(file, COUNT_KEYS)).toEqual([{ n: 60_000 }]);
    });
  });

  test("close() waits for a checkpoint that runs, and leaves no log", async () => {
    await withDatabase(async (_, file) => {
      const writer = openFileWriter(file, { lockTimeoutMs: 1000, checkpointInterval: 3 });
      for (let nth = 0; nth < 9; nth++) {
        await writer.write([insertKeys(nth, 1)], { isSynced: false, inline: true });
      }
      expect(writer.counts.checkpoints).toBeGreaterThan(0);
      await writer.close();
      expect((await stat(`${file}-wal`)).size).toBe(0);
      expect(await queryFromOtherProcess(file, COUNT_KEYS)).toEqual([{ n: 9 }]);
    });
  });
});
