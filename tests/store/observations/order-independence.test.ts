import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS, ENTITY_FIELDS, type EntityKind } from "../../../core/kinds.ts";
import { parseObservation, type FieldValue, type Observation } from "../../../core/observations.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { NOW, observationArbitrary } from "../../support/arbitraries/values.ts";
import { queryRows, resultOrError, withDatabase } from "../../support/store/database.ts";
import { readPointsOf } from "../../support/store/stored-history.ts";
import {
  applyObservation,
  findNewestCounts,
  EMPTY_ENTITY,
  type Entity,
} from "../../../core/entities.ts";

const IDS = ["__proto__", "7", "😀"];
const CHANNELS = ["NASA", "nasa", "nAsA"];
const CHANNEL_NAMES = ["", "Nasa", "É", "é"];
const USERNAMES = ["NASA", "nasa", "É", "é"];
/** A clock some days after the dates of the shorts and tweets. */
const PAST_CLOCK = Date.parse("2020-03-01");

/** Few entities of any kind at few instants, so that they clash, move and change their spelling. */
const namedObservation = (kind: EntityKind) =>
  fc
    .tuple(
      observationArbitrary(kind),
      fc.record({
        id: fc.constantFrom(...(kind === "channel" ? CHANNELS : IDS)),
        channel: fc.constantFrom(...CHANNELS),
        username: fc.constantFrom(...(kind === "channel" ? CHANNEL_NAMES : USERNAMES)),
      }),
    )
    .map(([value, named]) => parseObservation({ ...value, ...named }, NOW));

/** Of all kinds, or of two related kinds, which move and change their spelling most. */
const observationSets = fc
  .constantFrom<readonly EntityKind[]>(
    ENTITY_KINDS,
    ["channel", "short"],
    ["tweet"],
    ["user", "tweet"],
  )
  .chain((kinds) =>
    fc.array(fc.constantFrom(...kinds).chain(namedObservation), { minLength: 1, maxLength: 14 }),
  );

/** Every response of the reads, by request. */
async function readAllAnswers(database: Database): Promise<Record<string, unknown>> {
  const video = createVideoReads(database);
  const microblog = createMicroblogReads(database);
  const answers: Record<string, unknown> = { channels: await video.channels() };
  for (const name of [...CHANNELS, ...CHANNEL_NAMES]) {
    answers[`channel ${name}`] = await resultOrError(video.channel(name));
    answers[`shorts ${name}`] = await resultOrError(video.shorts(name, { limit: 100 }));
    for (const id of CHANNELS.includes(name) ? IDS : []) {
      answers[`short ${name} ${id}`] = await resultOrError(video.short(name, id));
    }
  }
  const page = { days: 14, page: 0, limit: 100 };
  for (const name of USERNAMES) {
    answers[`user ${name}`] = await resultOrError(microblog.user(name));
    answers[`tweets ${name}`] = await resultOrError(microblog.tweets(name, page, PAST_CLOCK));
    answers[`followers ${name}`] = await resultOrError(microblog.followers(name, page, NOW));
    for (const id of IDS) {
      answers[`tweet ${name} ${id}`] = await resultOrError(microblog.tweet(name, id));
    }
  }
  return answers;
}

async function exportLines(database: Database): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportObservations(database, {})) lines.push(JSON.stringify(line));
  return lines.toSorted();
}

async function storeAndRead(batches: readonly (readonly Observation[])[]) {
  return withDatabase(async (database) => {
    for (const batch of batches) await writeObservations(database, batch);
    return { exported: await exportLines(database), answers: await readAllAnswers(database) };
  });
}

/** The state of every entity of a kind, from the rows of its tables. */
async function readEntities(database: Database, kind: EntityKind): Promise<Map<string, Entity>> {
  const { attributes: types, counts } = ENTITY_FIELDS[kind];
  const rows = await queryRows(database, `SELECT * FROM ${kind}s WHERE observed_at IS NOT NULL`);
  const entities = new Map<string, Entity>();
  for (const row of rows) {
    const description: Record<string, { value: FieldValue; at: number }> = {};
    for (const [field, type] of Object.entries(types)) {
      const at = row[`${toColumnName(field)}_at`];
      if (at === null) continue;
      const value = row[toColumnName(field)];
      const hasValue = typeof value === "string" || typeof value === "number";
      if (!hasValue) throw new Error(`${kind} ${String(row["id"])} has no ${field}`);
      description[field] = { value: type === "boolean" ? value === 1 : value, at: Number(at) };
    }
    const id = String(row["id"]);
    const toCounts = (values: readonly unknown[]) =>
      Object.fromEntries(
        counts.map((name, place) => {
          const given = values[place];
          return [name, typeof given === "number" ? given : null] as const;
        }),
      );
    const points = new Map(
      (await readPointsOf(database, kind, id)).map(
        (point) => [point.at, toCounts(point.counts)] as const,
      ),
    );
    const entity = { attributes: description, points };
    expect(findNewestCounts(entity)).toEqual({
      at: Number(row["observed_at"]),
      counts: toCounts(counts.map((name) => row[toColumnName(name)])),
    });
    entities.set(id, entity);
  }
  return entities;
}

describe("reads after writeObservations()", () => {
  test("are the same for any order, split and repetition of the observations", async () => {
    const rearranged = observationSets.chain((set) =>
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
        expect(await storeAndRead(batches)).toEqual(await storeAndRead([set]));
      }),
      { numRuns: 40, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);

  test("are the same after an export was imported into another database", async () => {
    await fc.assert(
      fc.asyncProperty(observationSets, async (set) => {
        const there = await storeAndRead([set]);
        const again = there.exported.map((line) => parseObservation(JSON.parse(line), NOW));
        expect(await storeAndRead([again])).toEqual(there);
      }),
      { numRuns: 25, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);

  test("are the same when batches are written at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(observationSets, fc.integer({ min: 1, max: 4 }), async (set, size) => {
        const atOnce = await withDatabase(async (database) => {
          const batches = Array.from({ length: Math.ceil(set.length / size) }, (_, index) =>
            set.slice(index * size, (index + 1) * size),
          );
          await Promise.all(batches.map((batch) => writeObservations(database, batch)));
          return { exported: await exportLines(database), answers: await readAllAnswers(database) };
        });
        expect(atOnce).toEqual(await storeAndRead([set]));
      }),
      { numRuns: 20, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);
});

describe("tables after writeObservations()", () => {
  test("hold what applyObservation() of core makes: attributes, points and newest counts", async () => {
    await fc.assert(
      fc.asyncProperty(observationSets, fc.integer({ min: 1, max: 14 }), async (set, size) => {
        await withDatabase(async (database) => {
          const model = new Map(ENTITY_KINDS.map((kind) => [kind, new Map<string, Entity>()]));
          for (let start = 0; start < set.length; start += size) {
            const batch = set.slice(start, start + size);
            const outcomes = { new: 0, changed: 0, unchanged: 0 };
            for (const next of batch) {
              const entities = model.get(next.kind);
              const known = entities?.get(next.entityId) ?? EMPTY_ENTITY;
              const { entity, outcome } = applyObservation(known, next);
              entities?.set(next.entityId, entity);
              outcomes[outcome]++;
            }
            expect(await writeObservations(database, batch)).toEqual(outcomes);
          }
          for (const [kind, entities] of model) {
            expect(await readEntities(database, kind)).toEqual(entities);
          }
        });
      }),
      { numRuns: 100, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);
});
