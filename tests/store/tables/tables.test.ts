import { describe, expect, test } from "bun:test";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ENTITY_KINDS } from "../../../core/entity-kinds.ts";
import { parseObservation } from "../../../core/observations.ts";
import { writeObservations } from "../../../server/store/observations/write.ts";
import { withDatabase } from "../../support/store/database.ts";

const ROOT = join(import.meta.dir, "../../..");

describe("the tables", () => {
  test.each(ENTITY_KINDS.map((kind) => [kind]))(
    "%s histories lie by entity and instant, without a rowid",
    async (kind) => {
      await withDatabase(async (database) => {
        const [table] = await database.queryRows({
          sql: "SELECT sql FROM sqlite_master WHERE name = ?",
          args: [`${kind}_histories`],
        });
        expect(String(table?.["sql"])).toMatch(
          new RegExp(`PRIMARY KEY\\(\`${kind}\`, \`start\`\\)\\s*\\) WITHOUT ROWID$`),
        );
      });
    },
  );

  test.each([["tracked_channels"], ["targets"], ["quota_use"], ["stopped_sources"]])(
    "%s has no rowid",
    async (name) => {
      await withDatabase(async (database) => {
        const [table] = await database.queryRows({
          sql: "SELECT sql FROM sqlite_master WHERE name = ?",
          args: [name],
        });
        expect(String(table?.["sql"])).toEndWith(") WITHOUT ROWID");
      });
    },
  );

  test("the migrations make the tables as they are declared", async () => {
    const folder = await mkdtemp(join(ROOT, "tests/migrations-"));
    try {
      await cp(join(ROOT, "server/store/tables/migrations"), folder, { recursive: true });
      const before = (await readdir(folder)).toSorted();
      const child = Bun.spawn(
        [
          process.execPath,
          join(ROOT, "node_modules/drizzle-kit/bin.cjs"),
          "generate",
          "--dialect=sqlite",
          "--schema=./server/store/tables/*-tables.ts",
          `--out=${folder.slice(ROOT.length + 1)}`,
        ],
        { cwd: ROOT, stdout: "pipe", stderr: "pipe" },
      );
      const printed = await child.stdout.text();
      expect(await child.exited).toBe(0);
      expect(printed).toContain("No schema changes");
      expect((await readdir(folder)).toSorted()).toEqual(before);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 30_000);

  test("an observation takes at most 16 bytes, taken in as time goes", async () => {
    await withDatabase(async (database, file) => {
      const [channels, hours] = [200, 500];
      for (let hour = 0; hour < hours; hour += 25) {
        const some = Array.from({ length: channels * 25 }, (_, index) =>
          parseObservation(
            {
              kind: "channel",
              observedAt: new Date(
                1_760_000_000_000 + (hour + Math.floor(index / channels)) * 3_600_000,
              ).toISOString(),
              id: `UC${String(index % channels).padStart(22, "0")}`,
              subscribers: 100_000 + hour * 17,
              videoCount: 400 + hour,
              viewCount: 50_000_000 + hour * 997,
            },
            Date.now(),
          ),
        );
        await writeObservations(database, some);
      }
      await database.queryRows("PRAGMA wal_checkpoint(TRUNCATE)");
      const perObservation = Bun.file(file).size / (channels * hours);
      expect(perObservation).toBeLessThanOrEqual(16);
      expect(perObservation).toBeGreaterThan(8);
    });
  }, 30_000);
});
