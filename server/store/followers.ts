/** Reads of the followers of a user, in pages. */
import { daysStart, selectedDuring } from "../../core/days.ts";
import { followerChanges } from "../../core/growth.ts";
import { writtenJson } from "../../core/json.ts";
import { paginate, type PageRequest } from "../../core/pagination.ts";
import type { Reading } from "../../core/reading.ts";
import type { FollowersPage } from "../../core/schema/microblog.ts";
import { foldCase } from "../../core/text.ts";
import { hasUnknown, visitPoints, type Chunk } from "./chunks.ts";
import type { Database } from "./database.ts";
import { chunksWhere, LAYOUTS } from "./layout.ts";
import { rowWriter } from "./points.ts";
import { userSubject } from "./subjects.ts";
import { OF_USER, userNotFound } from "./users.ts";

/** Of a user: the chunks with the counts since a start, and some before them. */
const FOLLOWERS =
  "SELECT json_array(username, " +
  chunksWhere(
    LAYOUTS.user,
    "users.key",
    "start >= ifnull((SELECT min(start) FROM (SELECT start FROM user_histories " +
      "WHERE user = users.key AND start < ?2 ORDER BY start DESC LIMIT ?3)), ?2)",
  ) +
  `) ${OF_USER}`;

/** How many times as many chunks before the start are read where those that were tell no count. */
const REACH_GROWTH = 8;

const writeChanges = rowWriter(
  ["followers", "change"],
  { followers: "followers", change: "change", timestamp: "at" },
  "Z",
);

/**
 * Reads a page, with one statement: all of it is of one instant.
 *
 * @param reach How many chunks are read in which a count before the days may be.
 */
export async function readFollowers(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
  reach = 1,
): Promise<Reading<FollowersPage>> {
  const id = foldCase(username);
  const start = daysStart(now, days);
  const found = await database.document<[string, Chunk[]]>(FOLLOWERS, [id, start, reach]);
  if (found === undefined) throw userNotFound(username);
  const [name, chunks] = found;
  const parts = chunks.map((chunk) => partSince(chunk, start));
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  const pagination = paginate(page, limit, total);
  const end = total - page * limit;
  const from = Math.max(0, end - limit);
  // The oldest count is compared with the one before it, filtered or not.
  const known = slice(parts, Math.max(0, from - 1), end);
  const earlier = from === 0 && end > 0 ? chunks.filter((chunk) => chunk[0] < start) : [];
  const before = lastKnownBefore(earlier, start);
  if (before === undefined && earlier.length === reach) {
    return readFollowers(database, username, { days, page, limit }, now, reach * REACH_GROWTH);
  }
  const points = [...(before === undefined ? [] : [before]), ...known].toReversed();
  const json = writeChanges(end - from, (put) => {
    for (const { at, followers, change } of followerChanges(points, end - from)) {
      put(at, [followers, change]);
    }
  });
  const metrics = writtenJson<FollowersPage["followers"]["USER"]["metrics"]>(json);
  return {
    body: { username: name, followers: { USER: { metrics } }, filter_days: days, pagination },
    subjects: [userSubject(id)],
    during: selectedDuring(now, parts.find(({ size }) => size > 0)?.oldest ?? null, days),
  };
}

/** A known number of followers. */
interface FollowersPoint {
  readonly at: number;
  readonly followers: number;
}

/** The known numbers of followers in a chunk, oldest first: how many, and which. */
interface Part {
  readonly size: number;
  readonly oldest: number | undefined;
  points(): readonly FollowersPoint[];
}

/** The part of a chunk from an instant on. Most need not be unpacked to tell how large they are. */
function partSince(chunk: Chunk, since: number): Part {
  const [start, size] = chunk;
  if (start >= since && !hasUnknown(chunk)) {
    return { size, oldest: start, points: () => knownFollowers(chunk) };
  }
  const points = knownFollowers(chunk).filter(({ at }) => at >= since);
  return { size: points.length, oldest: points[0]?.at, points: () => points };
}

/** Those from a place up to another, of all parts. */
function slice(parts: readonly Part[], from: number, to: number): FollowersPoint[] {
  let place = 0;
  return parts.flatMap(({ size, points }) => {
    const first = place;
    place += size;
    if (first >= to || place <= from) return [];
    return points().slice(Math.max(0, from - first), to - first);
  });
}

/** The known numbers of followers of a chunk, oldest first. */
function knownFollowers(chunk: Chunk): FollowersPoint[] {
  const points: FollowersPoint[] = [];
  visitPoints(chunk, LAYOUTS.user.counts.size, (at, counts) => {
    const followers = counts[0];
    if (typeof followers === "number") points.push({ at, followers });
  });
  return points;
}

/** The last known number of followers before an instant, of chunks in their order. */
function lastKnownBefore(chunks: readonly Chunk[], instant: number): FollowersPoint | undefined {
  for (const chunk of chunks.toReversed()) {
    const known = knownFollowers(chunk).findLast(({ at }) => at < instant);
    if (known !== undefined) return known;
  }
  return undefined;
}
