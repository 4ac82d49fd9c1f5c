/** Holds the stored figures of items to a naive model that computes each from all observations. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseObservation } from "../../../core/observations.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { refreshItemFigures } from "../../../server/store/figures/item-figures.ts";
import { modelItemFigures, type ModelItem } from "../../model/item-figures.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { refreshAllFigures } from "../../support/store/figures.ts";
import { writeObservations } from "../../support/store/observations.ts";

/** An observation of a short: which one, when, and what it tells. */
interface Observed {
  readonly item: number;
  readonly at: number;
  readonly owner: string;
  readonly publishedAt: number | null;
  readonly views: number | null;
}

const START = NOW - 30 * DAY_MS;

const observations: fc.Arbitrary<Observed> = fc.record({
  item: fc.nat(11),
  at: fc.nat(200).map((quarters) => START + DAY_MS + quarters * 2 * HOUR_MS),
  owner: fc.constantFrom("a", "a", "a", "b"),
  publishedAt: fc.option(
    // Some items were observed before they were published.
    fc.nat(40).map((hours) => START + hours * HOUR_MS),
    { freq: 4 },
  ),
  views: fc.option(fc.nat(1000), { freq: 6 }),
});

/** No two observations of an item at one instant: their merge is tested elsewhere. */
const histories = fc.uniqueArray(observations, {
  selector: ({ item, at }) => `${item} ${at}`,
  minLength: 1,
  maxLength: 150,
  size: "max",
});

/** Imports of single observations that follow the first import. */
const SINGLE_IMPORTS = 6;

const write = (database: Database, list: readonly Observed[]) =>
  writeObservations(
    database,
    list.map(({ item, at, owner, publishedAt, views }) =>
      parseObservation(
        {
          kind: "short",
          observedAt: formatInstant(at),
          id: `s${item}`,
          channel: owner,
          ...(publishedAt === null ? {} : { publishedAt: formatInstant(publishedAt) }),
          ...(views === null ? {} : { views }),
        },
        NOW,
      ),
    ),
  );

/** Merges observations naively: the newest owner and publication, and all points. */
function mergeItems(list: readonly Observed[]): ModelItem[] {
  return [...Map.groupBy(list, ({ item }) => item)].flatMap(([item, of]) => {
    const sorted = of.toSorted((a, b) => a.at - b.at);
    const publishedAt = sorted.findLast((each) => each.publishedAt !== null)?.publishedAt ?? null;
    if (publishedAt === null) return [];
    const points = sorted.map(({ at, views }) => ({ at, count: views }));
    return [{ id: `s${item}`, owner: sorted.at(-1)?.owner ?? "", publishedAt, points }];
  });
}

function expectedRows(list: readonly Observed[]) {
  const items = mergeItems(list);
  return items
    .map((item) => {
      const { id, owner, publishedAt: published_at } = item;
      return Object.assign({ id, owner, published_at }, modelItemFigures(items, item));
    })
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const storedRows = (database: Database) =>
  queryRows(
    database,
    `SELECT
      figures.id,
      channels.id AS owner,
      published_at,
      views,
      views_per_hour AS perHour,
      views_per_day AS perDay,
      age_multiple AS ageMultiple
    FROM short_figures AS figures
    JOIN channels ON channels.key = figures.owner
    ORDER BY figures.id`,
  );

/** Observes each of some items an hour and three hours after its publication. */
const observeTwice = (count: number, hoursApart: number): readonly Observed[] =>
  Array.from({ length: count }, (_, item): Observed[] =>
    [1, 3].map((hours) => ({
      item,
      owner: "a",
      at: START + (item * hoursApart + hours) * HOUR_MS,
      publishedAt: START + item * hoursApart * HOUR_MS,
      views: ((item * 7919) % 1000) * hours + 1,
    })),
  ).flat();

describe("refreshItemFigures()", () => {
  test("equals a naive model after an import, and after each observation that follows", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (list) => {
        await withDatabase(async (database) => {
          let stored = 0;
          const first = Math.max(1, list.length - SINGLE_IMPORTS);
          for (let end = first; end <= list.length; end++) {
            await write(database, list.slice(stored, end));
            stored = end;
            await refreshAllFigures(database);
            expect(await storedRows(database)).toEqual(expectedRows(list.slice(0, end)));
          }
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test("compares with the newest 100 earlier items, in pages of many items", async () => {
    await withDatabase(async (database) => {
      const list = observeTwice(1300, 0.5);
      await write(database, list);
      expect(await refreshAllFigures(database)).toBe(1300);
      expect(await storedRows(database)).toEqual(expectedRows(list));
      expect(await refreshAllFigures(database)).toBe(0);
      const late = {
        item: 700,
        owner: "a",
        at: START + 352 * HOUR_MS,
        publishedAt: null,
        views: 7,
      };
      await write(database, [late]);
      expect(await refreshAllFigures(database)).toBe(101);
      expect(await storedRows(database)).toEqual(expectedRows([...list, late]));
    });
  }, 60_000);

  test("misses no observation that is imported meanwhile", async () => {
    await withDatabase(async (database) => {
      const list: Observed[] = [];
      for (let round = 0; round < 30; round++) {
        const part = Array.from({ length: 10 }, (_, item): Observed => {
          const at = START + (round + 20) * HOUR_MS + item;
          return { item, owner: "a", at, publishedAt: START + item, views: (item + 1) * round };
        });
        list.push(...part);
        await Promise.all([write(database, part), refreshAllFigures(database)]);
      }
      await refreshAllFigures(database);
      expect(await storedRows(database)).toEqual(expectedRows(list));
    });
  });

  test("is right after a conflict between two transactions of one owner", async () => {
    const list = observeTwice(1500, 0.25);
    const seen = (item: number, hours: number, publishedAt: number | null = null): Observed => {
      const at = START + (item / 4 + hours) * HOUR_MS;
      return { item, owner: "a", at, publishedAt, views: 5000 + item };
    };
    // One item moves to the front, and more are computed again than a transaction writes.
    const again = Array.from({ length: 1050 }, (_, item) => seen(item, 4));
    const moved = seen(1400, 4, START - HOUR_MS);
    await withDatabase(async (database) => {
      await write(database, list);
      await refreshAllFigures(database);
      await write(database, [...again, moved]);
      let writes = 0;
      const interrupted: Database = {
        ...database,
        async write(...args: Parameters<Database["write"]>) {
          if (++writes === 2) await write(database, [seen(0, 9)]);
          return database.write(...args);
        },
      };
      await refreshItemFigures(interrupted, "short");
      expect(writes).toBeGreaterThan(1);
      await refreshAllFigures(database);
      expect(await storedRows(database)).toEqual(
        expectedRows([...list, ...again, moved, seen(0, 9)]),
      );
    });
  }, 60_000);

  test("reads histories that are too long for one statement in parts", async () => {
    const lengths = [20_000, 20_000, 60_000, 10];
    const list = lengths.flatMap((length, item) =>
      Array.from({ length }, (_, nth): Observed => {
        const at = START + item * HOUR_MS + nth * 30_000;
        return { item, owner: "a", at, publishedAt: START + item * HOUR_MS, views: nth * 977_351 };
      }),
    );
    await withDatabase(async (database) => {
      await write(database, list);
      const counts = await queryRows(
        database,
        "SELECT count(*) AS chunks FROM short_histories GROUP BY short ORDER BY 1",
      );
      expect(Number(counts.at(-1)?.["chunks"])).toBeGreaterThan(500);
      await refreshAllFigures(database);
      expect(await storedRows(database)).toEqual(expectedRows(list));
    });
  }, 60_000);
});
