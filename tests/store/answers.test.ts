import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { KIND_NAMES, KINDS, type Kind } from "../../core/kinds.ts";
import {
  applyObservation,
  checkObservation,
  presentCounts,
  UNOBSERVED,
  type Entity,
  type FieldValue,
  type Observation,
} from "../../core/observations.ts";
import type { Database } from "../../server/store/database.ts";
import { exportObservations } from "../../server/store/export.ts";
import { columnOf } from "../../server/store/layout.ts";
import { microblogStore } from "../../server/store/microblog.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { videoStore } from "../../server/store/video.ts";
import { NOW, observationsOf } from "../support/arbitraries.ts";
import { rowsOf, settled, withDatabase } from "../support/database.ts";
import { pointsOf } from "../support/history.ts";

const IDS = ["__proto__", "7", "😀"];
const CHANNELS = ["NASA", "nasa", "nAsA"];
const CHANNEL_NAMES = ["", "Nasa", "É", "é"];
const USERNAMES = ["NASA", "nasa", "É", "é"];
/** A clock by which the instants that shorts and tweets are dated with are days ago. */
const THEN = Date.parse("2020-03-01");

/** Few entities of any kind, at few instants: they clash, move and change their spelling. */
const observationOf = (kind: Kind) =>
  fc
    .tuple(
      observationsOf(kind),
      fc.record({
        id: fc.constantFrom(...(kind === "channel" ? CHANNELS : IDS)),
        channel: fc.constantFrom(...CHANNELS),
        username: fc.constantFrom(...(kind === "channel" ? CHANNEL_NAMES : USERNAMES)),
      }),
    )
    .map(([value, named]) => checkObservation({ ...value, ...named }, NOW));

/** Of all kinds, or of one and what it is named by: those move and are spelt most. */
const sets = fc
  .constantFrom<readonly Kind[]>(KIND_NAMES, ["channel", "short"], ["tweet"], ["user", "tweet"])
  .chain((kinds) =>
    fc.array(fc.constantFrom(...kinds).chain(observationOf), { minLength: 1, maxLength: 14 }),
  );

/** Everything that the interfaces answer, by what was asked. */
async function answersOf(database: Database): Promise<Record<string, unknown>> {
  const video = videoStore(database);
  const microblog = microblogStore(database);
  const answers: Record<string, unknown> = { channels: await video.channels() };
  for (const name of [...CHANNELS, ...CHANNEL_NAMES]) {
    answers[`channel ${name}`] = await settled(video.channel(name));
    answers[`shorts ${name}`] = await settled(video.shorts(name, { limit: 100 }));
    for (const id of CHANNELS.includes(name) ? IDS : []) {
      answers[`short ${name} ${id}`] = await settled(video.short(name, id));
    }
  }
  const page = { days: 14, page: 0, limit: 100 };
  for (const name of USERNAMES) {
    answers[`user ${name}`] = await settled(microblog.user(name));
    answers[`tweets ${name}`] = await settled(microblog.tweets(name, page, THEN));
    answers[`followers ${name}`] = await settled(microblog.followers(name, page, NOW));
    for (const id of IDS) {
      answers[`tweet ${name} ${id}`] = await settled(microblog.tweet(name, id));
    }
  }
  return answers;
}

async function exportOf(database: Database): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportObservations(database, {})) lines.push(JSON.stringify(line));
  return lines.toSorted();
}

async function outcomeOf(batches: readonly (readonly Observation[])[]) {
  return withDatabase(async (database) => {
    for (const batch of batches) await storeObservations(database, batch);
    return { exported: await exportOf(database), answers: await answersOf(database) };
  });
}

/** The state of every entity of a kind as the rows of its tables say it. */
async function storedOf(database: Database, kind: Kind): Promise<Map<string, Entity>> {
  const { described, counts } = KINDS[kind];
  const channel =
    kind === "short" ? ", (SELECT id FROM channels WHERE key = channel) AS named" : "";
  const rows = await rowsOf(
    database,
    `SELECT *${channel} FROM ${kind}s WHERE observed_at IS NOT NULL`,
  );
  const entities = new Map<string, Entity>();
  for (const row of rows) {
    const description: Record<string, { value: FieldValue; at: number }> = {};
    for (const [field, type] of Object.entries(described)) {
      const at = row[`${columnOf(field)}_at`];
      if (at === null) continue;
      const value = field === "channel" ? row["named"] : row[columnOf(field)];
      const isGiven = typeof value === "string" || typeof value === "number";
      if (!isGiven) throw new Error(`${kind} ${String(row["id"])} has no ${field}`);
      description[field] = { value: type === "boolean" ? value === 1 : value, at: Number(at) };
    }
    const id = String(row["id"]);
    const named = (values: readonly unknown[]) =>
      Object.fromEntries(
        counts.map((name, place) => {
          const given = values[place];
          return [name, typeof given === "number" ? given : null] as const;
        }),
      );
    const points = new Map(
      (await pointsOf(database, kind, id)).map((point) => [point.at, named(point.counts)] as const),
    );
    const entity = { description, points };
    expect(presentCounts(entity)).toEqual({
      at: Number(row["observed_at"]),
      counts: named(counts.map((name) => row[columnOf(name)])),
    });
    entities.set(id, entity);
  }
  return entities;
}

describe("what is served", () => {
  test("is the same for any order, split and repetition of a set of observations", async () => {
    const rearranged = sets.chain((set) =>
      fc.record({
        set: fc.constant(set),
        again: fc.shuffledSubarray([...set, ...set], { minLength: 2 * set.length }),
        size: fc.integer({ min: 1, max: 2 * set.length }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(rearranged, async ({ set, again, size }) => {
        const batches = Array.from({ length: Math.ceil(again.length / size) }, (_, index) =>
          again.slice(index * size, (index + 1) * size),
        );
        expect(await outcomeOf(batches)).toEqual(await outcomeOf([set]));
      }),
      { numRuns: 40, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);

  test("is the same after an export was imported elsewhere", async () => {
    await fc.assert(
      fc.asyncProperty(sets, async (set) => {
        const there = await outcomeOf([set]);
        const again = there.exported.map((line) => checkObservation(JSON.parse(line), NOW));
        expect(await outcomeOf([again])).toEqual(there);
      }),
      { numRuns: 25, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);

  test("is the same where batches are stored at once", async () => {
    await fc.assert(
      fc.asyncProperty(sets, fc.integer({ min: 1, max: 4 }), async (set, size) => {
        const atOnce = await withDatabase(async (database) => {
          const batches = Array.from({ length: Math.ceil(set.length / size) }, (_, index) =>
            set.slice(index * size, (index + 1) * size),
          );
          await Promise.all(batches.map((batch) => storeObservations(database, batch)));
          return { exported: await exportOf(database), answers: await answersOf(database) };
        });
        expect(atOnce).toEqual(await outcomeOf([set]));
      }),
      { numRuns: 20, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);
});

describe("what is stored", () => {
  test("is core's fold of the observations: descriptions, points and present counts", async () => {
    await fc.assert(
      fc.asyncProperty(sets, fc.integer({ min: 1, max: 14 }), async (set, size) => {
        await withDatabase(async (database) => {
          const model = new Map(KIND_NAMES.map((kind) => [kind, new Map<string, Entity>()]));
          for (let start = 0; start < set.length; start += size) {
            const batch = set.slice(start, start + size);
            const outcomes = { new: 0, changed: 0, unchanged: 0 };
            for (const next of batch) {
              const entities = model.get(next.kind);
              const known = entities?.get(next.entity) ?? UNOBSERVED;
              const { entity, outcome } = applyObservation(known, next);
              entities?.set(next.entity, entity);
              outcomes[outcome]++;
            }
            expect(await storeObservations(database, batch)).toEqual(outcomes);
          }
          for (const [kind, entities] of model) {
            expect(await storedOf(database, kind)).toEqual(entities);
          }
        });
      }),
      { numRuns: 100, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);
});
