/** Many lines are read in a thread, few at once: nobody can tell from what comes of them. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { KIND_NAMES } from "../../core/kinds.ts";
import type { Database } from "../../server/store/database.ts";
import { exportObservations } from "../../server/store/export.ts";
import { createIntake, type Intake } from "../../server/store/intake.ts";
import { nearObservationsOf, NOW, observationsOf } from "../support/arbitraries.ts";
import { withDatabase } from "../support/database.ts";
import { valueOf } from "../support/retention.ts";

const NEWLINE = Buffer.from("\n");

/** Lines of all kinds: right, nearly right, and of what else a file may have. */
function someLines(seed: number): Buffer[] {
  const observation = fc.oneof(
    ...KIND_NAMES.flatMap((kind) => [
      { weight: 3, arbitrary: observationsOf(kind) },
      { weight: 1, arbitrary: nearObservationsOf(kind) },
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

const joined = (lines: readonly Buffer[]) =>
  new Uint8Array(Buffer.concat(lines.flatMap((line) => [line, NEWLINE])));

/** Takes in lines, some at a time, and adds up what became of them. */
async function takeIn(
  database: Database,
  lines: readonly Buffer[],
  atOnce: number,
): Promise<Intake> {
  const take = createIntake(database, () => NOW);
  const sum = {
    read: 0,
    new: 0,
    changed: 0,
    unchanged: 0,
    rejected: [] as Intake["rejected"][0][],
  };
  for (let from = 0; from < lines.length; from += atOnce) {
    const taken = await take(joined(lines.slice(from, from + atOnce)));
    sum.read += taken.read;
    sum.new += taken.new;
    sum.changed += taken.changed;
    sum.unchanged += taken.unchanged;
    sum.rejected.push(...taken.rejected.map(({ line, reason }) => ({ line: from + line, reason })));
  }
  return sum;
}

/** All that is there; which entity was seen first is of no matter. */
async function contentOf(database: Database): Promise<string[]> {
  const lines = await Array.fromAsync(exportObservations(database, {}));
  return lines.map((line) => JSON.stringify(line)).toSorted();
}

describe("lines", () => {
  test("have at most 1 MiB, by their bytes", async () => {
    await withDatabase(async (database) => {
      const start = '{"kind":"user","observedAt":"2026-11-20","username":"u","note":"';
      const room = 1_048_576 - Buffer.byteLength(`${start}"}`);
      const ofBytes = (bytes: number) =>
        Buffer.from(`${start}${"語".repeat(bytes / 3)}${"x".repeat(bytes % 3)}"}`);
      const { read, rejected } = await takeIn(database, [ofBytes(room), ofBytes(room + 1)], 2);
      expect(read).toBe(2);
      expect(rejected).toEqual([{ line: 2, reason: "A line has at most 1048576 bytes" }]);
    });
  });

  test.each([[1], [2], [3]])(
    "taken in at once come to what they come to in small parts (%d)",
    async (seed) => {
      const lines = someLines(seed);
      expect(joined(lines).byteLength).toBeGreaterThan(1_048_576);
      await withDatabase(async (whole) => {
        await withDatabase(async (parts) => {
          const [one, other] = [
            await takeIn(whole, lines, lines.length),
            await takeIn(parts, lines, 300),
          ];
          expect(one).toEqual(other);
          expect(one.rejected.length).toBeGreaterThan(100);
          expect(await contentOf(whole)).toEqual(await contentOf(parts));
          // And again, over what is there: each is among what came in before.
          expect(await takeIn(whole, lines, lines.length)).toEqual({
            ...one,
            new: 0,
            changed: 0,
            unchanged: one.read - one.rejected.length,
          });
        });
      });
    },
  );

  test("of many users at once each keep their own counts and descriptions", async () => {
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
      expect((await takeIn(database, lines, lines.length)).new).toBe(6000);
      const all = await Array.fromAsync(exportObservations(database, {}));
      const given = all.filter((line) => line["username"] === "user321");
      expect(given.map((line) => line["followers_count"])).toEqual(
        hours.map((_, hour) => 32_100 + hour).toReversed(),
      );
      expect(given.at(-1)?.["displayName"]).toBe("user321 0");
    });
  });

  test("many in a part of a buffer leave the rest of it to its owner", async () => {
    const line = Buffer.from(JSON.stringify(valueOf("user", "u", NOW, 7)));
    const bytes = joined(Array.from({ length: 4000 }, () => line));
    const buffer = new Uint8Array(bytes.byteLength + 8).fill(1);
    buffer.set(bytes);
    await withDatabase(async (database) => {
      const take = createIntake(database, () => NOW);
      const taken = await take(buffer.subarray(0, bytes.byteLength));
      expect(taken).toMatchObject({ read: 4000, new: 1, unchanged: 3999 });
      expect(buffer.at(-1)).toBe(1);
    });
  });

  test("that come after many others are stored after them, although they are read before", async () => {
    await withDatabase(async (database) => {
      const take = createIntake(database, () => NOW);
      const lineOf = (count: number) =>
        Buffer.from(JSON.stringify(valueOf("user", "u", NOW, count)));
      const taken = await Promise.all([
        take(joined(Array.from({ length: 4000 }, () => lineOf(1)))),
        take(joined([lineOf(2)])),
      ]);
      expect(taken).toMatchObject([
        { new: 1, changed: 0, unchanged: 3999 },
        { new: 0, changed: 1, unchanged: 0 },
      ]);
    });
  });

  test("of several requests at once are all taken in", async () => {
    await withDatabase(async (database) => {
      const take = createIntake(database, () => NOW);
      const blocks = Array.from({ length: 8 }, (_, block) =>
        joined(
          Array.from({ length: 2000 }, (__, index) =>
            Buffer.from(
              JSON.stringify(
                valueOf("user", `u${index % 50}`, NOW - index * 8000 - block * 1000, index),
              ),
            ),
          ),
        ),
      );
      const taken = await Promise.all(blocks.map(take));
      expect(taken.map((one) => one.new)).toEqual(blocks.map(() => 2000));
      expect((await contentOf(database)).length).toBe(16_000);
    });
  });
});
