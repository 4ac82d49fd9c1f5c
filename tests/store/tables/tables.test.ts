import { describe, expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";
import { parseObservation } from "../../../core/observations.ts";
import { refreshAllFigures } from "../../support/store/figures.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { withDatabase } from "../../support/store/database.ts";

const ROOT = join(import.meta.dir, "../../..");
const MIGRATIONS = join(ROOT, "server/store/tables/migrations");

/** Calls `use` with a new folder inside the project, where drizzle-kit can write. */
async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(ROOT, "tests/migrations-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs `bun run migration` on a folder; resolves to what it printed. */
async function generateMigration(folder: string): Promise<string> {
  const child = Bun.spawn(
    [process.execPath, "run", "migration", "--name=initial", `--folder=${folder}`],
    { cwd: ROOT, stdout: "pipe", stderr: "pipe" },
  );
  const printed = await child.stdout.text();
  expect(await child.exited).toBe(0);
  return printed;
}

/** The texts of the files of a folder that match a pattern, by name. */
async function readFiles(folder: string, pattern: string): Promise<Record<string, string>> {
  const names = await Array.fromAsync(new Glob(pattern).scan(folder));
  const texts = names.map(async (name) => [name, await Bun.file(join(folder, name)).text()]);
  return Object.fromEntries(await Promise.all(texts));
}

describe("server/store/tables", () => {
  test("are WITHOUT ROWID, except those with an integer primary key", async () => {
    await withDatabase(async (database) => {
      const rows = await database.queryRows(`
        SELECT name
        FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND NOT wr
          AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'
        ORDER BY name
      `);
      expect(rows.map((row) => String(row["name"])).join(" ")).toBe(
        "accounts admin_tokens audit changes channel_figures channels keys peer_certificates short_figures shorts stale_channel_figures stale_short_figures stale_tweet_figures stale_user_figures tweet_figures tweets user_figures users",
      );
    });
  });

  test("`bun run migration` generates the baseline from nothing as it is", async () => {
    await withFolder(async (folder) => {
      await generateMigration(folder);
      expect(await readFiles(folder, "*.sql")).toEqual(await readFiles(MIGRATIONS, "*.sql"));
    });
  }, 30_000);

  test("`bun run migration` changes nothing where the tables did not change", async () => {
    await withFolder(async (folder) => {
      await cp(MIGRATIONS, folder, { recursive: true });
      expect(await generateMigration(folder)).toContain("No schema changes");
      expect(await readFiles(folder, "**/*")).toEqual(await readFiles(MIGRATIONS, "**/*"));
    });
  }, 30_000);

  test("take at most 13 bytes, with figures, for an observation that is written in the order of time", async () => {
    await withDatabase(async (database, file) => {
      const [channels, hours] = [200, 500];
      const measureBytes = async () => {
        await database.queryRows("PRAGMA wal_checkpoint(TRUNCATE)");
        return Bun.file(file).size;
      };
      const emptyBytes = await measureBytes();
      for (let hour = 0; hour < hours; hour += 25) {
        const observations = Array.from({ length: channels * 25 }, (_, index) =>
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
        await writeObservations(database, observations);
      }
      await refreshAllFigures(database);
      const bytesPerObservation = ((await measureBytes()) - emptyBytes) / (channels * hours);
      expect(bytesPerObservation).toBeLessThanOrEqual(13);
      expect(bytesPerObservation).toBeGreaterThan(8);
    });
  }, 30_000);
});
