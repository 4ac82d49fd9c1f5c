/**
 * A bare server that reads a year of a channel by day with bun:sqlite from plain rows (see
 * add-plain-rows.ts), and does nothing else.
 *
 * Arguments: how SQL finds the newest row of each day (`group`: GROUP BY with max(); `window`:
 * row_number()), who formats the JSON (`json`: SQLite; `rows`: JavaScript), and the path of a database,
 * which it only reads. No count of the data is unknown, so lag() is the change to the last known one.
 */
import { Database } from "bun:sqlite";
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import { DAY_MS } from "../../../core/time.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";

const [, , dayMethod = "", jsonMethod = "", file = ""] = process.argv;
const NAMES = ENTITY_FIELDS.channel.counts;
const COLUMNS = NAMES.map(toColumnName);

/** The newest row of each day. ?1 is the channel, ?2 the first instant. */
const DAY_ROWS =
  dayMethod === "window"
    ? `
      SELECT day, at, ${COLUMNS.join(", ")}
      FROM (
        SELECT
          *,
          at / ${DAY_MS} AS day,
          row_number() OVER (PARTITION BY at / ${DAY_MS} ORDER BY at DESC) AS place
        FROM plain_channel_observations
        WHERE channel = ?1 AND at >= ?2
      )
      WHERE place = 1`
    : `
      SELECT at / ${DAY_MS} AS day, max(at) AS at, ${COLUMNS.join(", ")}
      FROM plain_channel_observations
      WHERE channel = ?1 AND at >= ?2
      GROUP BY day`;

/** The days with their changes. The day before the first one is the newest row before it. */
const CHANGES = `
  SELECT *
  FROM (
    SELECT
      day, at, ${COLUMNS.join(", ")},
      ${COLUMNS.map((name) => `${name} - lag(${name}) OVER (ORDER BY day) AS ${name}_change`).join(", ")}
    FROM (
      ${DAY_ROWS}
      UNION ALL
      SELECT *
      FROM (
        SELECT -1 AS day, at, ${COLUMNS.join(", ")}
        FROM plain_channel_observations
        WHERE channel = ?1 AND at < ?2
        ORDER BY at DESC
        LIMIT 1
      )
    )
  )
  WHERE day >= 0
  ORDER BY day`;

const instantSql = (instant: string) =>
  `strftime('%Y-%m-%dT%H:%M:%fZ', ${instant} / 1000.0, 'unixepoch')`;

const fieldsSql = (suffix: string) =>
  NAMES.map((name, index) => `'${name}', ${COLUMNS[index]}${suffix}`).join(", ");

const JSON_ITEMS = `
  SELECT json_group_array(json_object(
    'timestamp', ${instantSql(`day * ${DAY_MS}`)},
    'observedAt', ${instantSql("at")},
    ${fieldsSql("")},
    'change', json_object(${fieldsSql("_change")})
  )) AS history
  FROM (${CHANGES})`;

const database = new Database(file, { readonly: true });
const findChannel = database.query<{ key: number; username: string }, [string]>(
  "SELECT key, username FROM channels WHERE username_folded = ?",
);
const readItems = createItemReader();

/** Returns a function that reads the items of a history as JSON. */
function createItemReader(): (channel: number, from: number) => string {
  if (jsonMethod === "json") {
    const days = database.query<{ history: string }, [number, number]>(JSON_ITEMS);
    return (channel, from) => days.get(channel, from)?.history ?? "[]";
  }
  const days = database.query<Record<string, number>, [number, number]>(CHANGES);
  return (channel, from) => JSON.stringify(days.all(channel, from).map(toItem));
}

function toItem(row: Record<string, number>) {
  const { subscribers, video_count: videoCount, view_count: viewCount } = row;
  return {
    timestamp: new Date((row["day"] ?? 0) * DAY_MS).toISOString(),
    observedAt: new Date(row["at"] ?? 0).toISOString(),
    subscribers,
    videoCount,
    viewCount,
    change: {
      subscribers: row["subscribers_change"],
      videoCount: row["video_count_change"],
      viewCount: row["view_count_change"],
    },
  };
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  reusePort: false,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const channel = findChannel.get(pathname.split("/")[3]?.toLowerCase() ?? "");
    if (channel === null) return new Response(null, { status: 404 });
    const from = Date.parse(searchParams.get("from") ?? "");
    const body =
      `{"channel":${JSON.stringify(channel.username)},"interval":"day",` +
      `"history":${readItems(channel.key, from)},` +
      `"pagination":{"hasMore":false,"nextCursor":null}}`;
    return new Response(body, { headers: { "content-type": "application/json" } });
  },
});
console.error(server.url.origin);
