/** Tests createImporter(). A worker parses large blocks, and the results must not differ. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { REJECTED_LINES_LISTED_MAX } from "../../../core/limits.ts";
import { createRejectionCollector } from "../../../core/rejections.ts";
import type { ImportResult } from "../../../core/stores.ts";
import { createImporter } from "../../../server/store/observations/import.ts";
import {
  nearlyValidArbitrary,
  NOW,
  observationArbitrary,
} from "../../support/arbitraries/values.ts";
import { withDatabase } from "../../support/store/database.ts";
import { makeObservation } from "../../support/store/retention.ts";

const NEWLINE = Buffer.from("\n");

/** Lines of all kinds: valid, nearly valid, and anything else that a file can hold. */
function sampleLines(seed: number): Buffer[] {
  const observation = fc.oneof(
    ...ENTITY_KINDS.flatMap((kind) => [
      { weight: 3, arbitrary: observationArbitrary(kind) },
      { weight: 1, arbitrary: nearlyValidArbitrary(kind) },
    ]),
  );
  const line = fc.oneof(
    { weight: 30, arbitrary: observation.map((value) => Buffer.from(JSON.stringify(value))) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom("\uFEFF", "\uFEFF\uFEFF"), observation)
        .map(([mark, value]) => Buffer.from(`${mark}${JSON.stringify(value)}\r`)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", " \t", "\r", "{", "null").map((text) => Buffer.from(text)),
    },
    { weight: 1, arbitrary: fc.constant(Buffer.of(0x7b, 0xff, 0x7d)) },
  );
  return fc.sample(line, { seed, numRuns: 6000 });
}

const joinLines = (lines: readonly Buffer[]) =>
  new Uint8Array(Buffer.concat(lines.flatMap((line) => [line, NEWLINE])));

/** Imports lines in parts and adds up the results. */
async function intakeInBlocks(
  database: Database,
  lines: readonly Buffer[],
  blockLines: number,
): Promise<ImportResult> {
  const intake = createImporter(database, () => NOW);
  const sum = { read: 0, new: 0, changed: 0, unchanged: 0 };
  const rejections = createRejectionCollector();
  for (let from = 0; from < lines.length; from += blockLines) {
    const result = await intake(joinLines(lines.slice(from, from + blockLines)));
    sum.read += result.read;
    sum.new += result.new;
    sum.changed += result.changed;
    sum.unchanged += result.unchanged;
    rejections.addReport(result, (line) => from + line);
  }
  return { ...sum, ...rejections.report() };
}

/** Everything stored, without the keys: they depend on the order of the entities. */
async function exportSorted(database: Database): Promise<string[]> {
  const lines = await Array.fromAsync(exportObservations(database, {}));
  return lines.map((line) => JSON.stringify(line)).toSorted();
}

describe("createImporter()", () => {
  test("rejects a line over 1 MiB, counted in bytes", async () => {
    await withDatabase(async (database) => {
      const start = '{"kind":"user","observedAt":"2026-11-20","username":"u","note":"';
      const room = 1_048_576 - Buffer.byteLength(`${start}"}`);
      const ofBytes = (bytes: number) =>
        Buffer.from(`${start}${"語".repeat(bytes / 3)}${"x".repeat(bytes % 3)}"}`);
      const { read, rejected } = await intakeInBlocks(
        database,
        [ofBytes(room), ofBytes(room + 1)],
        2,
      );
      expect(read).toBe(2);
      expect(rejected).toEqual([{ line: 2, reason: "A line has at most 1048576 bytes" }]);
    });
  });

  test("lists 1,000 rejected lines, counts all by cause, and numbers lines in any block", async () => {
    await withDatabase(async (database) => {
      const valid = JSON.stringify(makeObservation("user", "u", NOW, 7));
      const block = `${"{}\n".repeat(200_000)}{"kind":"user"}\n${valid}\n`;
      const result = await createImporter(database, () => NOW)(new TextEncoder().encode(block));
      expect(result).toMatchObject({ read: 200_002, new: 1 });
      expect(result.rejected).toHaveLength(REJECTED_LINES_LISTED_MAX);
      expect(result.rejected[999]?.line).toBe(1000);
      expect(result.causes).toEqual([
        { cause: "kind must be one of channel, short, user, tweet", lines: 200_000 },
        { cause: "observedAt must be a string", lines: 1 },
      ]);
      const far = `${"\n".repeat(200_000)}{}\n`;
      const { rejected } = await createImporter(database, () => NOW)(new TextEncoder().encode(far));
      expect(rejected.map(({ line }) => line)).toEqual([200_001]);
    });
  });

  test.each([[1], [2], [3]])("imports lines at once as in small parts (%d)", async (seed) => {
    const lines = sampleLines(seed);
    expect(joinLines(lines).byteLength).toBeGreaterThan(1_048_576);
    await withDatabase(async (whole) => {
      await withDatabase(async (parts) => {
        const [one, other] = [
          await intakeInBlocks(whole, lines, lines.length),
          await intakeInBlocks(parts, lines, 300),
        ];
        expect(one).toEqual(other);
        expect(one.rejected.length).toBeGreaterThan(100);
        expect(await exportSorted(whole)).toEqual(await exportSorted(parts));
        // Once more: now every observation is known.
        expect(await intakeInBlocks(whole, lines, lines.length)).toEqual({
          ...one,
          new: 0,
          changed: 0,
          unchanged: one.read - one.rejected.length,
        });
      });
    });
  });

  test("keeps the counts and attributes of many users apart", async () => {
    const users = Array.from({ length: 500 }, (_, user) => `user${user}`);
    const hours = Array.from({ length: 12 }, (_, hour) => NOW - hour * 3_600_000);
    const lines = hours.flatMap((at, hour) =>
      users.map((name, user) =>
        Buffer.from(
          JSON.stringify({
            kind: "user",
            observedAt: new Date(at),
            username: name,
            displayName: `${name} ${hour >> 2}`,
            followers_count: user * 100 + hour,
          }),
        ),
      ),
    );
    await withDatabase(async (database) => {
      expect((await intakeInBlocks(database, lines, lines.length)).new).toBe(6000);
      const all = await Array.fromAsync(exportObservations(database, {}));
      const given = all.filter((line) => line["username"] === "user321");
      expect(given.map((line) => line["followers_count"])).toEqual(
        hours.map((_, hour) => 32_100 + hour).toReversed(),
      );
      expect(given.at(-1)?.["displayName"]).toBe("user321 0");
    });
  });

  test("leaves the rest of a buffer intact when it gets a large part of it", async () => {
    const line = Buffer.from(JSON.stringify(makeObservation("user", "u", NOW, 7)));
    const bytes = joinLines(Array.from({ length: 4000 }, () => line));
    const buffer = new Uint8Array(bytes.byteLength + 8).fill(1);
    buffer.set(bytes);
    await withDatabase(async (database) => {
      const take = createImporter(database, () => NOW);
      const taken = await take(buffer.subarray(0, bytes.byteLength));
      expect(taken).toMatchObject({ read: 4000, new: 1, unchanged: 3999 });
      expect(buffer.at(-1)).toBe(1);
    });
  });

  test("stores a small block after a larger one that came first, although it is parsed first", async () => {
    await withDatabase(async (database) => {
      const take = createImporter(database, () => NOW);
      const lineOf = (count: number) =>
        Buffer.from(JSON.stringify(makeObservation("user", "u", NOW, count)));
      const taken = await Promise.all([
        take(joinLines(Array.from({ length: 4000 }, () => lineOf(1)))),
        take(joinLines([lineOf(2)])),
      ]);
      expect(taken).toMatchObject([
        { new: 1, changed: 0, unchanged: 3999 },
        { new: 0, changed: 1, unchanged: 0 },
      ]);
    });
  });

  test("imports the blocks of several calls at once", async () => {
    await withDatabase(async (database) => {
      const take = createImporter(database, () => NOW);
      const blocks = Array.from({ length: 8 }, (_, block) =>
        joinLines(
          Array.from({ length: 2000 }, (__, index) =>
            Buffer.from(
              JSON.stringify(
                makeObservation("user", `u${index % 50}`, NOW - index * 8000 - block * 1000, index),
              ),
            ),
          ),
        ),
      );
      const taken = await Promise.all(blocks.map(take));
      expect(taken.map((one) => one.new)).toEqual(blocks.map(() => 2000));
      expect((await exportSorted(database)).length).toBe(16_000);
    });
  });
});
