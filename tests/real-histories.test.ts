/**
 * Compares histories of real entities with a naive computation from the raw lines. Skipped without
 * ../shared/data, which is not part of the project. HISTORY_ENTITIES=500 takes all files.
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HISTORY_INTERVALS } from "../core/buckets.ts";
import { ENTITY_FIELDS, type EntityKind } from "../core/kinds.ts";
import { parseHistoryRequest } from "../core/histories.ts";
import { DAY_MS, formatInstant } from "../core/time.ts";
import type { Database } from "../server/store/database/database.ts";
import { createImporter } from "../server/store/observations/import.ts";
import { createMicroblogReads } from "../server/store/reads/microblog.ts";
import { createVideoReads } from "../server/store/reads/video.ts";
import { modelHistory, type ModelRange } from "./model/histories.ts";
import { cutBlocks } from "../server/observation-batches/parse-lines.ts";
import { withDatabase } from "./support/store/database.ts";

const ENTITIES = Number(process.env["HISTORY_ENTITIES"] ?? 60);
const RANGES = 20;
const FILES = [
  "large-video.ndjson.gz",
  "large-microblog.ndjson.gz",
  ...(ENTITIES >= 500 ? ["large-channels.ndjson.gz"] : []),
].map((name) => join(import.meta.dir, "../../shared/data", name));

const BLOCK_BYTES = 4_000_000;

function hasFiles(): boolean {
  if (FILES.every((file) => existsSync(file))) return true;
  process.stderr.write("Skipped the histories of real entities: ../shared/data does not exist\n");
  return false;
}

interface Line {
  readonly kind: EntityKind;
  readonly observedAt: string;
  readonly id?: string;
  readonly username?: string;
  readonly channel?: string;
  readonly publishedAt?: string | null;
  readonly created_at?: string | null;
}

/** An entity with its counts by instant. */
interface RawEntity {
  readonly line: Line;
  readonly points: Map<number, (number | null)[]>;
}

/** A generator of the same pseudorandom numbers in each run (mulberry32). */
function createRandom(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const decoder = new TextDecoder();

/** Imports a file, and collects the counts of every entity from its raw lines. */
async function importFile(database: Database, file: string, entities: Map<string, RawEntity>) {
  const importLines = createImporter(database, Date.now);
  const bytes = Bun.gunzipSync(new Uint8Array(await Bun.file(file).arrayBuffer()));
  for (const block of cutBlocks(bytes, BLOCK_BYTES)) {
    for (const text of decoder.decode(block).split("\n")) {
      if (text !== "") collectLine(JSON.parse(text), entities);
    }
    const { rejected } = await importLines(block.slice());
    expect(rejected).toEqual([]);
  }
}

function collectLine(line: Line, entities: Map<string, RawEntity>): void {
  const { kind, observedAt } = line;
  const key = `${kind} ${kind === "user" ? line.username?.toLowerCase() : line.id}`;
  const entity = entities.get(key) ?? { line, points: new Map<number, (number | null)[]>() };
  // The newest line says whom a short or a tweet belongs to.
  entities.set(key, observedAt >= entity.line.observedAt ? { ...entity, line } : entity);
  const at = Date.parse(observedAt);
  const known = entity.points.get(at);
  const counts = ENTITY_FIELDS[kind].counts.map((name, index) => {
    const count: unknown = Reflect.get(line, name);
    const values = [count, known?.[index]].filter((value) => typeof value === "number");
    return values.length === 0 ? null : Math.max(...values);
  });
  entity.points.set(at, counts);
}

/** The history that a request selects, computed from the raw lines. */
function computeHistory({ line, points }: RawEntity, range: ModelRange) {
  const names = ENTITY_FIELDS[line.kind].counts;
  const named = Array.from(points, ([at, counts]) => ({
    at,
    counts: Object.fromEntries(names.map((name, index) => [name, counts[index] ?? null])),
  }));
  return modelHistory(named, names, range);
}

function createReader(database: Database) {
  const video = createVideoReads(database);
  const microblog = createMicroblogReads(database);
  return ({ kind, id = "", username = "", channel = "" }: Line, query: string) => {
    const parameters = new URLSearchParams(query);
    const request = parseHistoryRequest(parameters, 0);
    if (kind === "channel") return video.channelHistory(id, request);
    if (kind === "short") return video.shortHistory(channel, id, request);
    if (kind === "user") return microblog.userHistory(username, request);
    return microblog.tweetHistory(username, id, request);
  };
}

/** Reads all pages of a history, each of at most `limit` buckets. */
async function walk(
  read: ReturnType<typeof createReader>,
  line: Line,
  query: string,
  limit: number,
): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor = "";
  do {
    const { body } = await read(line, `${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
    items.push(...body.history);
    cursor = body.pagination.nextCursor ?? "";
  } while (cursor !== "");
  return items;
}

describe.skipIf(!hasFiles())("histories of real entities", () => {
  test(`of ${ENTITIES} entities equal a naive computation, in ${RANGES} ranges by each interval`, async () => {
    await withDatabase(async (database) => {
      const entities = new Map<string, RawEntity>();
      for (const file of FILES) await importFile(database, file, entities);
      // A short is served once its channel is known too.
      const served = [...entities.values()].filter(({ line }) =>
        line.kind === "short"
          ? line.publishedAt && entities.has(`channel ${line.channel}`)
          : line.kind !== "tweet" || line.created_at,
      );
      const random = createRandom(16);
      const read = createReader(database);
      for (let count = 0; count < ENTITIES; count++) {
        const entity = served[random(served.length)];
        if (entity === undefined) throw new Error("There is no entity");
        const instants = [...entity.points.keys()];
        const [first, newest] = [Math.min(...instants), Math.max(...instants)];
        const spanMs = newest - first + 4 * DAY_MS;
        for (const interval of HISTORY_INTERVALS) {
          for (let range = 0; range < RANGES; range++) {
            const from = first - 2 * DAY_MS + random(spanMs);
            const to = from + 1 + random(spanMs);
            const query = `interval=${interval}&from=${formatInstant(from)}&to=${formatInstant(to)}`;
            const limit = range % 2 === 0 ? 1000 : 1 + random(40);
            expect(await walk(read, entity.line, query, limit)).toEqual(
              computeHistory(entity, { interval, from, to }),
            );
          }
        }
      }
    });
  }, 600_000);
});
