/** Reads pages of a user's follower counts of the last days, with the change of each count. */
import { computeFollowerChanges } from "../../../core/growth.ts";
import { createRawJson } from "../../raw-json.ts";
import {
  computeDaysFilterStart,
  computeDaysFilterValidity,
  paginate,
  type PageRequest,
} from "../../../core/pagination.ts";
import type { CacheableResult } from "./read-types.ts";
import type { FollowersPage } from "../../../core/resources/generated/types.ts";
import { hasUnknownCount, forEachPoint, type Chunk } from "../history/chunk-codec.ts";
import type { DatabaseReads } from "../database/database.ts";
import { selectChunksSql } from "../history/chunk-sql.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { createRowsEncoder } from "../history/history-json.ts";
import { createOwnerRead, type Owner } from "./owners.ts";

const { pointLayout } = KIND_TABLES.user;

type FollowerPoint = Parameters<typeof computeFollowerChanges>[0][number];

/** The chunks of the row `owner` from the instant `?3` on, and `?4` chunks before it, as SQL. */
const CHUNKS_SQL = selectChunksSql(
  KIND_TABLES.user,
  "owner.key",
  `start >= ifnull((
    SELECT min(start)
    FROM (
      SELECT start
      FROM user_histories
      WHERE user = owner.key AND start < ?3
      ORDER BY start DESC
      LIMIT ?4
    )
  ), ?3)`,
);

/** If no chunk before the start has a known count, this many times as many are read next. */
const LOOKBACK_GROWTH = 8;

const encodeChanges = createRowsEncoder(
  ["followers", "change"],
  { followers: "followers", change: "change", timestamp: "at" },
  "Z",
);

/**
 * The change of the oldest listed count needs the known count before it, which can lie before the
 * days that the request selects. It is searched in few chunks first, then in more.
 */
export function createFollowersRead(database: DatabaseReads, users: Owner<"user">) {
  type Row = { username: string; observedAt: number | null; chunks: readonly Chunk[] };
  const readChunks = createOwnerRead<Readonly<Row>>(
    database,
    users,
    `json_object('username', username, 'observedAt', observed_at, 'chunks', ${CHUNKS_SQL})`,
  );
  return async function readFollowers(
    name: string,
    request: PageRequest,
    now: number,
    lookbackChunks = 1,
  ): Promise<CacheableResult<FollowersPage>> {
    const { days, page, limit } = request;
    const start = computeDaysFilterStart(days, now);
    const { username, observedAt, chunks } = await readChunks(name, start, lookbackChunks);
    const parts = chunks.map((chunk) => createPartSince(chunk, start));
    const total = parts.reduce((sum, { size }) => sum + size, 0);
    const pagination = paginate(page, limit, total);
    const end = total - page * limit;
    const from = Math.max(0, end - limit);
    const selected = slicePoints(parts, Math.max(0, from - 1), end);
    const earlier = from === 0 && end > 0 ? chunks.filter((chunk) => chunk.start < start) : [];
    const previous = earlier.flatMap(decodeFollowers).findLast(({ at }) => at < start);
    if (previous === undefined && earlier.length === lookbackChunks) {
      return readFollowers(name, request, now, lookbackChunks * LOOKBACK_GROWTH);
    }
    const points = [...(previous === undefined ? [] : [previous]), ...selected].toReversed();
    const json = encodeChanges(end - from, (writeRow) => {
      for (const { at, followers, change } of computeFollowerChanges(points, end - from)) {
        writeRow(at, [followers, change]);
      }
    });
    const metrics = createRawJson<FollowersPage["followers"]["USER"]["metrics"]>(json);
    const oldest = parts.find(({ size }) => size > 0)?.oldest ?? null;
    return {
      body: { username, followers: { USER: { metrics } }, filter_days: days, pagination },
      tags: users.listTags(name),
      observedAt,
      validDuring: computeDaysFilterValidity(oldest, days, now),
    };
  };
}

type FollowerPart = ReturnType<typeof createPartSince>;

/** Takes the known counts of a chunk from an instant on. Few chunks need decoding to count them. */
function createPartSince(chunk: Chunk, since: number) {
  const { start, size } = chunk;
  if (start >= since && !hasUnknownCount(chunk, pointLayout)) {
    return { size, oldest: start, decode: () => decodeFollowers(chunk) };
  }
  const points = decodeFollowers(chunk).filter(({ at }) => at >= since);
  return { size: points.length, oldest: points[0]?.at, decode: () => points };
}

/** Decodes the points `from` (included) to `to` (excluded) of all parts together. */
function slicePoints(parts: readonly FollowerPart[], from: number, to: number): FollowerPoint[] {
  let offset = 0;
  return parts.flatMap(({ size, decode }) => {
    const first = offset;
    offset += size;
    if (first >= to || offset <= from) return [];
    return decode().slice(Math.max(0, from - first), to - first);
  });
}

function decodeFollowers(chunk: Chunk): FollowerPoint[] {
  const points: FollowerPoint[] = [];
  forEachPoint(chunk, pointLayout, (at, [followers]) => {
    if (typeof followers === "number") points.push({ at, followers });
  });
  return points;
}
