/** Reads of the followers of a user, in pages. */
import { daysStart, selectedDuring } from "../../core/days.ts";
import { followerChanges } from "../../core/growth.ts";
import { paginate, type PageRequest } from "../../core/pagination.ts";
import type { Reading } from "../../core/reading.ts";
import type { FollowersPage } from "../../core/schema/microblog.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant } from "../../core/time.ts";
import { visitPoints, type Chunk } from "./chunks.ts";
import type { Database } from "./database.ts";
import { chunksWhere, LAYOUTS } from "./layout.ts";
import { userSubject } from "./subjects.ts";
import { OF_USER, userNotFound } from "./users.ts";

/** Of a user: the chunks with the counts since a start, and the one before them. */
const FOLLOWERS =
  "SELECT json_array(key, username, " +
  chunksWhere(
    LAYOUTS.user,
    "users.key",
    "start >= ifnull((SELECT max(start) FROM user_histories WHERE user = users.key AND " +
      "start < ?2), ?2)",
  ) +
  `) ${OF_USER}`;

const CHUNK_BEFORE =
  "SELECT json_array(start, size, points) FROM user_histories WHERE user = ?1 AND start < ?2 " +
  "ORDER BY start DESC LIMIT 1";

/** Reads a page. */
export async function readFollowers(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
): Promise<Reading<FollowersPage>> {
  const id = foldCase(username);
  const start = daysStart(now, days);
  const found = await database.document<[number, string, Chunk[]]>(FOLLOWERS, [id, start]);
  if (found === undefined) throw userNotFound(username);
  const [key, name, chunks] = found;
  const known = chunks.flatMap(knownFollowers);
  const since = known.findIndex(({ at }) => at >= start);
  const selected = since === -1 ? [] : known.slice(since);
  const pagination = paginate(page, limit, selected.length);
  const end = selected.length - page * limit;
  const rows = selected.slice(Math.max(0, end - limit), end);
  // The oldest count is compared with the one before it, filtered or not.
  const isOldest = rows.length > 0 && end <= limit;
  const before = isOldest
    ? (known[since - 1] ?? (await readKnownBefore(database, key, chunks[0])))
    : selected[end - limit - 1];
  const points = [...(before === undefined ? [] : [before]), ...rows].toReversed();
  const metrics = followerChanges(points, rows.length).map(({ followers, change, at }) => ({
    followers,
    change,
    timestamp: formatInstant(at),
  }));
  return {
    body: { username: name, followers: { USER: { metrics } }, filter_days: days, pagination },
    subjects: [userSubject(id)],
    during: selectedDuring(now, selected[0]?.at ?? null, days),
  };
}

/** A known number of followers. */
interface FollowersPoint {
  readonly at: number;
  readonly followers: number;
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

/** The last known number of followers before a chunk. */
async function readKnownBefore(
  database: Database,
  key: number,
  chunk: Chunk | undefined,
): Promise<FollowersPoint | undefined> {
  if (chunk === undefined) return undefined;
  const before = await database.document<Chunk>(CHUNK_BEFORE, [key, chunk[0]]);
  if (before === undefined) return undefined;
  // By now that chunk may hold later points as well.
  const known = knownFollowers(before).findLast(({ at }) => at < chunk[0]);
  return known ?? readKnownBefore(database, key, before);
}
