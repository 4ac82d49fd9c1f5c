/** Writes of histories by two processes at once, with lost responses, and of late observations. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import { parseObservation, type Observation } from "../../../core/observations.ts";
import { formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";
import { recordHistoryRewrites } from "../../../server/store/history/change-log.ts";
import { writeOptimistically } from "../../../server/store/history/optimistic-writes.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { queryRows, resultOrError, withDatabase } from "../../support/store/database.ts";
import { readAllPoints, readChunksOf } from "../../support/store/stored-history.ts";
import { hasSqld, startSqld } from "../../support/processes/sqld.ts";
import { startLossyHranaProxy } from "../../support/network/lossy-hrana-proxy.ts";
import { applyObservation, EMPTY_ENTITY, type Entity } from "../../../core/entities.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

/** An observation of a user some hours ago. */
function makeUserAt(username: string, hours: number, tweets = 10_000 - hours): Observation {
  const observedAt = formatInstant(NOW - hours * HOUR_MS - ((hours * 7919) % 60_000));
  const counts = { followers_count: 1_000_000 - hours * 97, tweet_count: tweets };
  return parseObservation({ kind: "user", observedAt, username, ...counts }, NOW);
}

const makeUsersAt = (usernames: readonly string[], hours: number) =>
  usernames.flatMap((name) => Array.from({ length: hours }, (_, hour) => makeUserAt(name, hour)));

/** The points of users as applyObservation() of core makes them, by entity and instant. */
function mergePoints(observations: readonly Observation[]): unknown[] {
  const entities = new Map<string, Entity>();
  for (const next of observations) {
    const existing = entities.get(next.entityId) ?? EMPTY_ENTITY;
    entities.set(next.entityId, applyObservation(existing, next).entity);
  }
  return [...entities]
    .flatMap(([entity, { points }]) =>
      Array.from(points, ([at, counts]) => ({
        entity,
        at,
        counts: ENTITY_FIELDS.user.counts.map((name) => counts[name] ?? null),
      })),
    )
    .toSorted((a, b) => (a.entity < b.entity ? -1 : a.entity > b.entity ? 1 : a.at - b.at));
}

/** The stored points of users, in the same order. */
const readSortedPoints = async (database: Database): Promise<unknown[]> =>
  (await readAllPoints(database, "user")).toSorted((a, b) =>
    a.entity < b.entity ? -1 : a.entity > b.entity ? 1 : a.at - b.at,
  );

const readChanges = (database: Database) => queryRows(database, "SELECT uid FROM changes");

/** Shuffles values, in the same way each time. */
function shuffleValues<Value>(values: readonly Value[]): Value[] {
  const [order = []] = fc.sample(fc.shuffledSubarray([...values], { minLength: values.length }), {
    numRuns: 1,
    seed: 7,
  });
  return order;
}

function splitIntoBatches<Value>(values: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

type DatabasePairTest = (one: Database, other: Database) => Promise<void>;

/** Two writers with separate write queues, like two processes. */
const DATABASE_PAIRS: readonly [string, boolean, (work: DatabasePairTest) => Promise<void>][] = [
  ["a file", true, (work) => withDatabase((database) => work(database, { ...database }))],
  [
    "a libSQL server",
    hasSqld(),
    async (work) => {
      const server = await startSqld();
      const open = () => openDatabase({ url: server.url, durability: "power" });
      const [one, other] = [await open(), await open()];
      await work(one, other);
      await Promise.all([one.close(), other.close()]);
      await server.close();
    },
  ],
];

describe.each(DATABASE_PAIRS.filter(([, isThere]) => isThere))(
  "two writers of %s",
  (_, __, between) => {
    test("lose nothing of the same entities, and count each observation as new once", async () => {
      await between(async (one, other) => {
        const all = makeUsersAt(["a", "b", "c"], 250);
        // A third of them is written by both.
        const incoming = shuffleValues([
          ...all,
          ...all.filter((_observation, index) => index % 3 === 0),
        ]);
        const stored = await Promise.all(
          splitIntoBatches(incoming, 12).map((batch, index) =>
            writeObservations(index % 2 === 0 ? one : other, batch),
          ),
        );
        const sum = (outcome: "new" | "changed" | "unchanged") =>
          stored.reduce((total, counts) => total + counts[outcome], 0);
        expect([sum("new"), sum("changed"), sum("unchanged")]).toEqual([
          all.length,
          0,
          incoming.length - all.length,
        ]);
        expect(await readSortedPoints(one)).toEqual(mergePoints(all));
      });
    }, 120_000);

    test("store the greater of different counts at the same instants", async () => {
      await between(async (one, other) => {
        const all = Array.from({ length: 40 }, (_value, index) => makeUserAt("a", 5, index));
        await Promise.all(
          shuffleValues(all).map((single, index) =>
            writeObservations(index % 2 === 0 ? one : other, [single]),
          ),
        );
        expect(await readSortedPoints(one)).toEqual(mergePoints([makeUserAt("a", 5, 39)]));
      });
    }, 120_000);

    test("plan again when the other writes between reading and writing, and store nothing of the first plan", async () => {
      await between(async (one, other) => {
        await writeObservations(one, makeUsersAt(["a"], 100));
        let decisions = 0;
        const { plan: decision } = await writeOptimistically(one, async () => {
          const name = `decision ${++decisions}`;
          if (decisions <= 2) await writeObservations(other, [makeUserAt("a", 99 + decisions)]);
          return {
            name,
            recordChange: recordHistoryRewrites("user", ["a"]),
            statements: [
              { sql: "INSERT INTO creators VALUES ('microblog', ?, ?, 0)", args: [name, name] },
              { sql: "UPDATE users SET display_name = ? WHERE key = 1", args: [name] },
            ],
          };
        });
        expect([decisions, decision.name]).toEqual([3, "decision 3"]);
        expect(await queryRows(other, "SELECT creator FROM creators")).toEqual([
          { creator: "decision 3" },
        ]);
        expect(await queryRows(other, "SELECT display_name AS name FROM users")).toEqual([
          { name: "decision 3" },
        ]);
        // The first point, two of the other writer, and the one of the last plan.
        expect(await readChanges(other)).toHaveLength(4);
        expect(await readSortedPoints(other)).toEqual(mergePoints(makeUsersAt(["a"], 102)));
      });
    }, 60_000);

    test("write nothing and record no change when everything is stored already", async () => {
      await between(async (one, other) => {
        const all = makeUsersAt(["a"], 100);
        await writeObservations(one, all);
        const before = await readChanges(one);
        expect(await writeObservations(other, all)).toEqual({ new: 0, changed: 0, unchanged: 100 });
        expect(await readChanges(one)).toEqual(before);
      });
    }, 60_000);
  },
);

describe.skipIf(!hasSqld())("writeObservations() when responses are lost", () => {
  const LOSSES: readonly [string, number][] = [
    ["once", 1],
    ["three times", 3],
  ];

  test.each(LOSSES)(
    "applies a write once and counts it as new when the response is lost %s",
    async (_, losses) => {
      const server = await startSqld();
      const lossyProxy = startLossyHranaProxy(server.url, /INSERT INTO changes/);
      const far = await openDatabase({ url: lossyProxy.url, durability: "power" });
      const first = makeUsersAt(["a", "b"], 100);
      await writeObservations(far, first);
      const more = makeUsersAt(["b", "c"], 150);
      lossyProxy.state.responsesToDrop = losses;
      expect(await writeObservations(far, more)).toEqual({ new: 200, changed: 0, unchanged: 100 });
      expect(lossyProxy.state).toEqual({ responsesToDrop: 0, droppedResponses: losses });
      expect(await readSortedPoints(far)).toEqual(mergePoints([...first, ...more]));
      expect(await readChanges(far)).toHaveLength(2);
      await far.close();
      lossyProxy.close();
      await server.close();
    },
    60_000,
  );

  test("fails when each response is lost, stores once, and a retry changes nothing", async () => {
    const server = await startSqld();
    const lossyProxy = startLossyHranaProxy(server.url, /INSERT INTO changes/);
    const far = await openDatabase({ url: lossyProxy.url, durability: "power" });
    const all = makeUsersAt(["a", "b"], 100);
    lossyProxy.state.responsesToDrop = Infinity;
    expect(await resultOrError(writeObservations(far, all))).toEqual([
      "Service Unavailable",
      "The database is not available right now",
    ]);
    lossyProxy.state.responsesToDrop = 0;
    expect(await writeObservations(far, all)).toEqual({ new: 0, changed: 0, unchanged: 200 });
    expect(await readSortedPoints(far)).toEqual(mergePoints(all));
    expect(await readChanges(far)).toHaveLength(1);
    await far.close();
    lossyProxy.close();
    await server.close();
  }, 60_000);

  test("loses nothing while another writes the same entities", async () => {
    const server = await startSqld();
    const lossyProxy = startLossyHranaProxy(server.url, /INSERT INTO changes/);
    const far = await openDatabase({ url: lossyProxy.url, durability: "power" });
    const near = await openDatabase({ url: server.url, durability: "power" });
    const all = makeUsersAt(["a", "b"], 200);
    const batches = splitIntoBatches(shuffleValues(all), 10);
    const store = async (database: Database, rest: number, losses: number) => {
      let newCount = 0;
      for (const batch of batches.filter((_, index) => index % 2 === rest)) {
        lossyProxy.state.responsesToDrop += losses;
        const counts = await writeObservations(database, batch);
        newCount += counts.new;
      }
      return newCount;
    };
    const newCounts = await Promise.all([store(far, 0, 1), store(near, 1, 0)]);
    expect(lossyProxy.state).toEqual({ responsesToDrop: 0, droppedResponses: batches.length / 2 });
    expect(newCounts).toEqual([all.length / 2, all.length / 2]);
    expect(await readSortedPoints(near)).toEqual(mergePoints(all));
    await Promise.all([far.close(), near.close()]);
    lossyProxy.close();
    await server.close();
  }, 120_000);
});

describe("writeObservations() one by one", () => {
  const HOURS = 250;
  const newestFirst = makeUsersAt(["a"], HOURS);
  const middle = newestFirst[HOURS / 2]?.observedAt ?? 0;
  const distance = ({ observedAt }: Observation) => Math.abs(observedAt - middle);
  const ORDERS: readonly [string, readonly Observation[]][] = [
    ["in the order of time", newestFirst.toReversed()],
    ["the newest first", newestFirst],
    ["in any order", shuffleValues(newestFirst)],
    ["from the middle on", newestFirst.toSorted((a, b) => distance(a) - distance(b))],
    [
      "every other one later",
      [0, 1].flatMap((rest) => newestFirst.filter((_observation, index) => index % 2 === rest)),
    ],
    ["twice, the second time backwards", [...newestFirst.toReversed(), ...newestFirst]],
  ];

  test.each(ORDERS)(
    "%s, stores the same as applyObservation() of core, in few chunks",
    async (_, all) => {
      await withDatabase(async (database) => {
        let newCount = 0;
        for (const single of all) {
          const counts = await writeObservations(database, [single]);
          newCount += counts.new;
        }
        expect(newCount).toBe(HOURS);
        expect(await readSortedPoints(database)).toEqual(mergePoints(all));
        const chunks = await readChunksOf(database, "user", "a");
        expect(chunks.length).toBeLessThan(2 + (2 * HOURS) / 35);
        // Only the last chunk, which is still being filled, can be short.
        const sizes = chunks.map(({ size }) => size);
        expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(15);
      });
    },
    30_000,
  );
});
