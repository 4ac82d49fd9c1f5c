/**
 * At most one connection commits or checkpoints at a time. The file is checkpointed after each
 * commit, while both threads commit and a backup and an import run; nothing may be lost.
 */
import { describe, expect, test } from "bun:test";
import { getCommitLock, hasWalResetBug } from "../../../server/store/database/file-writer.ts";
import { createImporter } from "../../../server/store/observations/import.ts";
import { createChannelLines } from "../../support/observation-lines.ts";
import { queryFromOtherProcess, withDatabase } from "../../support/store/database.ts";

const ROUNDS = Number(process.env["CHECKPOINT_ROUNDS"] ?? 15);

describe("getCommitLock()", () => {
  test("lets one work at a time, in the order of the calls", async () => {
    const lock = getCommitLock("/tmp/some.db");
    const same = getCommitLock("/tmp/../tmp/some.db");
    const log: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    expect(await lock(() => "at once")).toBe("at once");
    const first = lock(async () => {
      log.push("first begins");
      await promise;
      log.push("first ends");
    });
    const failing = same(() => {
      log.push("second");
      throw new Error("It did not work");
    });
    const third = lock(() => void log.push("third"));
    await Bun.sleep(1);
    expect(log).toEqual(["first begins"]);
    resolve();
    await first;
    expect(await failing.catch(String)).toBe("Error: It did not work");
    await third;
    expect(log).toEqual(["first begins", "first ends", "second", "third"]);
    expect(await lock(() => "at once again")).toBe("at once again");
  });

  test("runs work that is requested by the holder of the lock after it", async () => {
    const lock = getCommitLock("/tmp/other.db");
    const log: string[] = [];
    let inner: unknown;
    await lock(() => {
      inner = lock(() => void log.push("inner"));
      log.push("outer");
    });
    await inner;
    expect(log).toEqual(["outer", "inner"]);
  });
});

test("openDatabase() loses nothing when each commit is followed by a checkpoint", async () => {
  await withDatabase(
    async (database, file) => {
      const importLines = createImporter(database, Date.now, { getTransactionMs: () => 1 });
      const insert = (hash: string) => ({
        sql: "INSERT INTO keys (account, hash, begins_with, created_at) VALUES (1, ?, 'cm_', 0)",
        args: [hash],
      });
      const lines = createChannelLines(20_000 * ROUNDS);
      const size = Math.ceil(lines.length / ROUNDS);
      const encoder = new TextEncoder();
      const acknowledged: string[] = [];
      const importing = (async () => {
        for (let from = 0; from < lines.length; from += size) {
          await importLines(encoder.encode(lines.slice(from, from + size).join("\n")));
        }
      })();
      const write = async (name: string, inline: boolean) => {
        for (let nth = 0; nth < 20 * ROUNDS; nth++) {
          await database.write([insert(`${name} ${nth}`)], { inline, durability: "configured" });
          acknowledged.push(`${name} ${nth}`);
        }
      };
      const backup = database.copyTo(`${file}.copy`);
      await Promise.all([importing, write("inline", true), write("worker", false), backup]);
      expect(acknowledged).toHaveLength(40 * ROUNDS);
      const counts = {
        integrity: "SELECT integrity_check AS n FROM pragma_integrity_check",
        keys: "SELECT count(DISTINCT hash) AS n FROM keys",
        entities: "SELECT count(*) AS n FROM channels WHERE observed_at IS NOT NULL",
      };
      const rows = await Promise.all(
        Object.values(counts).map((sql) => queryFromOtherProcess(file, sql)),
      );
      expect(rows).toEqual([
        [{ n: "ok" }],
        [{ n: acknowledged.length }],
        [{ n: Math.min(lines.length, 4000) }],
      ]);
      expect(await importLines(encoder.encode(lines.join("\n")))).toMatchObject({
        new: 0,
        changed: 0,
        unchanged: lines.length,
      });
    },
    { durability: "power", checkpointInterval: 1 },
  );
}, 120_000);

describe("hasWalResetBug()", () => {
  test.each([
    ["3.6.23", false],
    ["3.7.0", true],
    ["3.45.1", true],
    ["3.51.2", true],
    ["3.51.3", false],
    ["4.0.0", false],
  ])("of %s is %p", (version, hasBug) => {
    expect(hasWalResetBug(version)).toBe(hasBug);
  });

  test("is true of the version of the driver", async () => {
    await withDatabase(async (database) => {
      const [row] = await database.queryRows("SELECT sqlite_version() AS version");
      expect(hasWalResetBug(String(row?.["version"]))).toBe(true);
    });
  });
});
