/**
 * Compares metrics of real entities with naive models that read the raw lines. Skipped without
 * ../shared/data, which is not part of the project. METRIC_ENTITIES=1000000 takes all of the large
 * files.
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ChannelMetrics, UserMetrics } from "../core/resources/generated/types.ts";
import { parseInstant } from "../core/time.ts";
import { createRandom } from "../core/testing/random.ts";
import { cutBlocks } from "../server/observation-batches/parse-lines.ts";
import { createImporter } from "../server/store/observations/import.ts";
import { createMicroblogReads } from "../server/store/reads/microblog.ts";
import { createVideoReads } from "../server/store/reads/video.ts";
import { modelEstimates } from "./model/estimates.ts";
import {
  listKnown,
  modelItemMetrics,
  modelOwnerMetrics,
  type ModelItem,
  type ModelObservation,
} from "./model/metrics.ts";
import { withDatabase } from "./support/store/database.ts";

const ENTITIES = Number(process.env["METRIC_ENTITIES"] ?? 400);
const isLong = process.env["METRIC_ENTITIES"] !== undefined;
const FILES = (
  isLong
    ? ["large-video.ndjson.gz", "large-microblog.ndjson.gz", "large-channels.ndjson.gz"]
    : ["real-video.ndjson", "real-microblog.ndjson"]
).map((name) => join(import.meta.dir, "../../shared/data", name));

const BLOCK_BYTES = 4_000_000;

function hasFiles(): boolean {
  if (FILES.every((file) => existsSync(file))) return true;
  process.stderr.write("Skipped the metrics of real entities: ../shared/data does not exist\n");
  return false;
}

type Line = Readonly<Record<string, string | number | null | undefined>>;

/** An entity with its raw lines. */
interface RawEntity {
  readonly kind: string;
  readonly id: string;
  readonly lines: Line[];
}

async function readLines(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await Bun.file(file).arrayBuffer());
  return file.endsWith(".gz") ? Bun.gunzipSync(bytes) : bytes;
}

function collectEntities(text: string, entities: Map<string, RawEntity>): void {
  for (const json of text.split("\n")) {
    if (json === "") continue;
    const line: Line = JSON.parse(json);
    const kind = String(line["kind"]);
    const id = kind === "user" ? String(line["username"]).toLowerCase() : String(line["id"]);
    const key = `${kind} ${id}`;
    const entity = entities.get(key) ?? { kind, id, lines: [] };
    entity.lines.push(line);
    entities.set(key, entity);
  }
}

const getInstant = (value: Line[string]): number => parseInstant(String(value)) ?? NaN;

/** The value of a field in the newest line that has it; the greatest of lines at one instant. */
function findNewest({ lines }: RawEntity, field: string): string | undefined {
  const known = lines.filter((line) => typeof line[field] === "string");
  const newest = Math.max(...known.map(({ observedAt }) => getInstant(observedAt)));
  return known
    .filter(({ observedAt }) => getInstant(observedAt) === newest)
    .map((line) => String(line[field]))
    .toSorted()
    .at(-1);
}

const toObservations = ({ lines }: RawEntity): ModelObservation[] =>
  lines.map((line) => ({
    observedAt: getInstant(line["observedAt"]),
    counts: Object.fromEntries(
      Object.entries(line).flatMap(([name, value]) =>
        typeof value === "number" ? [[name, value]] : [],
      ),
    ),
  }));

const CHANNEL = { SubscriberGain: "subscribers", ViewGain: "viewCount", VideoGain: "videoCount" };
const USER = {
  FollowerGain: "followers_count",
  FollowingGain: "following_count",
  TweetGain: "tweet_count",
};
const SHORT = { views: "views", reactions: ["likes", "comments", "shares"] };
const TWEET = { views: "impressions", reactions: ["likes", "replies", "retweets", "quotes"] };

/** Usernames are compared regardless of case, identifiers of channels are not. */
const getOwnerKey = (kind: string, owner: string): string =>
  `${kind} ${kind === "short" ? owner : owner.toLowerCase()}`;

/** The items of each owner, as the models read them. */
function groupItems(entities: Iterable<RawEntity>): Map<string, ModelItem[]> {
  const owned = new Map<string, ModelItem[]>();
  for (const entity of entities) {
    const [ownerField, publishedField] =
      entity.kind === "short" ? ["channel", "publishedAt"] : ["username", "created_at"];
    if (entity.kind !== "short" && entity.kind !== "tweet") continue;
    const published = findNewest(entity, publishedField);
    const owner = getOwnerKey(entity.kind, findNewest(entity, ownerField) ?? "");
    if (published === undefined) continue;
    const publishedAt = getInstant(published);
    const item = { id: entity.id, publishedAt, observations: toObservations(entity) };
    owned.set(owner, [...(owned.get(owner) ?? []), item]);
  }
  return owned;
}

function expectOwner(entity: RawEntity, body: ChannelMetrics | UserMetrics): void {
  const [gains, main] =
    entity.kind === "channel" ? [CHANNEL, "subscribers"] : [USER, "followers_count"];
  const observations = toObservations(entity);
  const newestAt = Math.max(...observations.map(({ observedAt }) => observedAt));
  const metrics: unknown = modelOwnerMetrics(gains, observations);
  const { roundingStep, milestone, trend } = modelEstimates(
    listKnown(observations, main),
    newestAt,
  );
  expect({ id: entity.id, ...body }).toMatchObject({
    id: entity.id,
    metrics,
    roundingStep,
    milestone: milestone && {
      milestone: milestone.milestone,
      at: new Date(milestone.at).toISOString(),
    },
    trend: trend === null ? null : { changes: trend.changes, roundingStep: trend.roundingStep },
  });
}

describe.skipIf(!hasFiles())("metrics of real entities", () => {
  test(`of up to ${ENTITIES} entities of each kind equal naive models`, async () => {
    await withDatabase(async (database) => {
      const entities = new Map<string, RawEntity>();
      const importLines = createImporter(database, Date.now);
      for (const file of FILES) {
        for (const block of cutBlocks(await readLines(file), BLOCK_BYTES)) {
          collectEntities(new TextDecoder().decode(block), entities);
          expect((await importLines(block.slice())).rejected).toEqual([]);
        }
      }
      const items = groupItems(entities.values());
      const video = createVideoReads(database);
      const microblog = createMicroblogReads(database);
      const counts: Record<string, number> = {};
      const random = createRandom(30);
      const shuffled = [...entities.values()]
        .map((entity) => ({ entity, order: random(1_000_000) }))
        .toSorted((a, b) => a.order - b.order);
      for (const { entity } of shuffled) {
        const { kind, id } = entity;
        if ((counts[kind] ?? 0) >= ENTITIES) continue;
        counts[kind] = (counts[kind] ?? 0) + 1;
        if (kind === "channel") expectOwner(entity, (await video.channelMetrics(id)).body);
        else if (kind === "user") expectOwner(entity, (await microblog.userMetrics(id)).body);
        else {
          const owner = findNewest(entity, kind === "short" ? "channel" : "username") ?? "";
          const creatorItems = items.get(getOwnerKey(kind, owner)) ?? [];
          const item = creatorItems.find((other) => other.id === id);
          if (item === undefined) continue;
          if (kind === "short" && !entities.has(`channel ${owner}`)) continue;
          const read = kind === "short" ? video.shortMetrics : microblog.tweetMetrics;
          const { metrics, ageComparison } = (await read(owner, id)).body;
          const model = modelItemMetrics(kind === "short" ? SHORT : TWEET, item, creatorItems);
          const found: Record<string, number | null> = { ...metrics, ...ageComparison };
          expect({ id, found }).toEqual({ id, found: model });
          if (metrics.ageMultiple !== null) {
            counts["with age multiple"] = (counts["with age multiple"] ?? 0) + 1;
          }
        }
      }
      process.stderr.write(`Compared the metrics of real entities: ${JSON.stringify(counts)}\n`);
    });
  }, 3_600_000);
});
