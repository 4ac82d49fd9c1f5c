/** Reads of the followers of a user, in pages. */
import { computeDaysFilterStart, computeDaysFilterValidity } from "../../../core/days.ts";
import { computeFollowerChanges } from "../../../core/growth.ts";
import { createRawJson } from "../../raw-json.ts";
import { paginate, type PageRequest } from "../../../core/pagination.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import type { FollowersPage } from "../../../core/schema/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { hasUnknownCount, forEachPoint, type Chunk } from "../history/chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { selectChunksSql, KIND_TABLES } from "../tables/entity-sql.ts";
import { createRowsEncoder } from "../history/history-json.ts";
import { createUserTag } from "../history/cache-tags.ts";
import { FROM_USER, userNotFoundError } from "./users.ts";

/** Of a user: the chunks with the counts since a start, and some before them. */
const SELECT_FOLLOWER_CHUNKS =
  "SELECT json_array(username, " +
  selectChunksSql(
    KIND_TABLES.user,
    "users.key",
    "start >= ifnull((SELECT min(start) FROM (SELECT start FROM user_histories " +
      "WHERE user = users.key AND start < ?2 ORDER BY start DESC LIMIT ?3)), ?2)",
  ) +
  `) ${FROM_USER}`;

/** How many times as many chunks before the start are read where those that were tell no count. */
const LOOKBACK_GROWTH = 8;

const encodeChanges = createRowsEncoder(
  ["followers", "change"],
  { followers: "followers", change: "change", timestamp: "at" },
  "Z",
);

/**
 * Reads a page, with one statement: all of it is of one instant.
 *
 * @param lookbackChunks How many chunks are read in which a count before the days may be.
 */
export async function readFollowers(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
  lookbackChunks = 1,
): Promise<CacheableResult<FollowersPage>> {
  const id = foldCase(username);
  const start = computeDaysFilterStart(now, days);
  const row = await database.queryJson<[string, Chunk[]]>(SELECT_FOLLOWER_CHUNKS, [
    id,
    start,
    lookbackChunks,
  ]);
  if (row === undefined) throw userNotFoundError(username);
  const [name, chunks] = row;
  const parts = chunks.map((chunk) => createPartSince(chunk, start));
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  const pagination = paginate(page, limit, total);
  const end = total - page * limit;
  const from = Math.max(0, end - limit);
  // The oldest count is compared with the one before it, filtered or not.
  const selected = slicePoints(parts, Math.max(0, from - 1), end);
  const earlier = from === 0 && end > 0 ? chunks.filter((chunk) => chunk[0] < start) : [];
  const previous = findLastBefore(earlier, start);
  if (previous === undefined && earlier.length === lookbackChunks) {
    return readFollowers(
      database,
      username,
      { days, page, limit },
      now,
      lookbackChunks * LOOKBACK_GROWTH,
    );
  }
  const points = [...(previous === undefined ? [] : [previous]), ...selected].toReversed();
  const json = encodeChanges(end - from, (writeRow) => {
    for (const { at, followers, change } of computeFollowerChanges(points, end - from)) {
      writeRow(at, [followers, change]);
    }
  });
  const metrics = createRawJson<FollowersPage["followers"]["USER"]["metrics"]>(json);
  return {
    body: { username: name, followers: { USER: { metrics } }, filter_days: days, pagination },
    tags: [createUserTag(id)],
    validDuring: computeDaysFilterValidity(
      now,
      parts.find(({ size }) => size > 0)?.oldest ?? null,
      days,
    ),
  };
}

/** A known number of followers. */
interface FollowerCount {
  readonly at: number;
  readonly followers: number;
}

/** The known numbers of followers in a chunk, oldest first: how many, and which. */
interface FollowerPart {
  readonly size: number;
  readonly oldest: number | undefined;
  points(): readonly FollowerCount[];
}

/** The part of a chunk from an instant on. Most need not be unpacked to tell how large they are. */
function createPartSince(chunk: Chunk, since: number): FollowerPart {
  const [start, size] = chunk;
  if (start >= since && !hasUnknownCount(chunk)) {
    return { size, oldest: start, points: () => decodeFollowers(chunk) };
  }
  const points = decodeFollowers(chunk).filter(({ at }) => at >= since);
  return { size: points.length, oldest: points[0]?.at, points: () => points };
}

/** Those from a place up to another, of all parts. */
function slicePoints(parts: readonly FollowerPart[], from: number, to: number): FollowerCount[] {
  let offset = 0;
  return parts.flatMap(({ size, points }) => {
    const first = offset;
    offset += size;
    if (first >= to || offset <= from) return [];
    return points().slice(Math.max(0, from - first), to - first);
  });
}

/** The known numbers of followers of a chunk, oldest first. */
function decodeFollowers(chunk: Chunk): FollowerCount[] {
  const points: FollowerCount[] = [];
  forEachPoint(chunk, KIND_TABLES.user.countColumns.size, (at, counts) => {
    const followers = counts[0];
    if (typeof followers === "number") points.push({ at, followers });
  });
  return points;
}

/** The last known number of followers before an instant, of chunks in their order. */
function findLastBefore(chunks: readonly Chunk[], instant: number): FollowerCount | undefined {
  for (const chunk of chunks.toReversed()) {
    const known = decodeFollowers(chunk).findLast(({ at }) => at < instant);
    if (known !== undefined) return known;
  }
  return undefined;
}
