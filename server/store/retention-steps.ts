/**
 * The steps by which a history is thinned: short stretches of a table of observations, in its own
 * order, each looked at with one read and thinned with one write.
 */
import { getTableColumns } from "drizzle-orm";
import type { Kind } from "../../core/kinds.ts";
import type { RetentionBounds } from "../../core/retention.ts";
import { DAY_MS, LAST_INSTANT } from "../../core/time.ts";
import { tellChangesOf } from "./changes.ts";
import type { Database } from "./database.ts";
import { LAYOUTS } from "./layout.ts";
import * as tables from "./tables.ts";

/** Observations, and entities, that a step is about at most. */
export const STEP_MAX_ROWS = 1000;
export const STEP_MAX_ENTITIES = 25;

/** A place in a table of observations: the key of an entity and an instant of it. */
export type Place = readonly [key: number, at: number];

/** Before all places. */
export const START: Place = [0, Number.MIN_SAFE_INTEGER];

/** A stretch of a table of observations. */
export interface Stretch {
  /** Excluded. */
  readonly from: Place;
  /** Included. */
  readonly to: Place;
  /** The entities whose observations lie in it. */
  readonly keys: readonly number[];
  readonly rows: number;
  /** The earliest instant in it. */
  readonly earliest: number;
}

/** What a write did to a stretch; it was counted in the same transaction. */
export interface Thinned {
  readonly found: number;
  readonly removed: number;
  readonly left: number;
  /** Whether the newest state of each entity is the same after as it was before. */
  readonly isStateUntouched: boolean;
  /** Changes that were noted. */
  readonly told: number;
}

/** Reads and writes the stretches of a kind. */
export function retentionSteps(database: Database, kind: Kind) {
  const sql = sqlOf(kind);
  const within = ({ from, to }: Stretch) => [...from, ...to];
  const bounded = ({ rawFrom, dailyFrom }: RetentionBounds) => [rawFrom, dailyFrom];
  return {
    /** The last place; `undefined` where there is nothing. */
    async last(): Promise<Place | undefined> {
      return database.document<Place>(sql.last, []);
    },

    /** Finds the stretch behind a place, up to another; `undefined` where there is nothing more. */
    async find(from: Place, upTo: Place): Promise<Stretch | undefined> {
      const groups =
        (await database.document<[number, number, number, number][]>(sql.find, [
          ...from,
          ...upTo,
        ])) ?? [];
      const last = groups.at(-1);
      if (last === undefined) return undefined;
      return {
        from,
        to: [last[0], last[2]],
        keys: groups.map(([key]) => key),
        rows: groups.reduce((sum, [, rows]) => sum + rows, 0),
        earliest: groups.reduce((least, [, , , at]) => Math.min(least, at), Infinity),
      };
    },

    /** The newest state of entities as text, a line each: their rows and newest observations. */
    async stateOf(keys: readonly number[]): Promise<string> {
      const [row] = await database.select({ sql: sql.state, args: [JSON.stringify(keys)] });
      return String(row?.["state"] ?? "");
    },

    /** Counts what {@link thin} would remove. */
    async countRemovable(stretch: Stretch, bounds: RetentionBounds): Promise<number> {
      const [row] = await database.select({
        sql: `SELECT count(*) AS rows FROM (${sql.removable})`,
        args: [...within(stretch), ...bounded(bounds)],
      });
      return Number(row?.["rows"]);
    },

    /** Removes what the bounds leave out, which is decided as the observations are by then. */
    async thin(stretch: Stretch, bounds: RetentionBounds): Promise<Thinned> {
      const args = [...within(stretch), ...bounded(bounds)];
      const survey = { sql: sql.survey, args: [...within(stretch), JSON.stringify(stretch.keys)] };
      const [before, told, , removed, after] = await database.write(
        [
          survey,
          ...tellChangesOf(kind, `SELECT ${sql.owner} FROM (${sql.removable})`, args),
          { sql: sql.remove, args },
          survey,
        ],
        { isRelaxed: true },
      );
      const [was, is] = [before?.rows[0], after?.rows[0]];
      return {
        found: Number(was?.["rows"]),
        removed: removed?.rowsAffected ?? 0,
        left: Number(is?.["rows"]),
        isStateUntouched: was?.["state"] === is?.["state"],
        told: told?.rowsAffected ?? 0,
      };
    },
  };
}

const TABLES = {
  channel: [tables.channels, tables.channelObservations],
  short: [tables.shorts, tables.shortObservations],
  user: [tables.users, tables.userObservations],
  tweet: [tables.tweets, tables.tweetObservations],
} as const;

/** The midnight that ends the day of an instant; instants before 1970 are negative. */
const dayEnd = (at: string) => `${at} - (${at} % ${DAY_MS} + ${DAY_MS}) % ${DAY_MS} + ${DAY_MS}`;

/** The first four arguments are the places that a stretch lies between, the next two its bounds. */
function sqlOf(kind: Kind) {
  const { entities, observations, owner } = LAYOUTS[kind];
  const within = `(${owner}, at) > (?1, ?2) AND (${owner}, at) <= (?3, ?4)`;
  const [entity, observation] = TABLES[kind].map((table) =>
    Object.values(getTableColumns(table)).map(({ name }) => name),
  );
  const shown = [
    ...(entity ?? []).map((name) => `e.${name}`),
    ...(observation ?? []).map((name) => `o.${name}`),
  ];
  const state = (keys: string) =>
    `SELECT group_concat(json_array(${shown.join(", ")}), char(10)) AS state ` +
    `FROM json_each(${keys}) AS given LEFT JOIN ${entities} AS e ON e.key = given.value ` +
    `LEFT JOIN ${observations} AS o ON o.${owner} = given.value AND o.at = ` +
    `(SELECT max(at) FROM ${observations} WHERE ${owner} = given.value)`;
  // Kept is what is raw, and what has nothing newer beside it: on its day, or in its history.
  const removable =
    `SELECT o.${owner}, o.at FROM ${observations} AS o WHERE ` +
    `(o.${owner}, o.at) > (?1, ?2) AND (o.${owner}, o.at) <= (?3, ?4) AND o.at < ?5 ` +
    `AND EXISTS (SELECT 1 FROM ${observations} AS newer WHERE newer.${owner} = o.${owner} ` +
    `AND newer.at > o.at AND newer.at < iif(o.at >= ?6, ${dayEnd("o.at")}, ${LAST_INSTANT + 1})) ` +
    `ORDER BY o.${owner}, o.at LIMIT ${STEP_MAX_ROWS}`;
  return {
    owner,
    removable,
    last:
      `SELECT json_array(${owner}, at) FROM ${observations} ` +
      `ORDER BY ${owner} DESC, at DESC LIMIT 1`,
    find:
      "SELECT json_group_array(json_array(key, rows, last, first)) FROM " +
      `(SELECT ${owner} AS key, count(*) AS rows, max(at) AS last, min(at) AS first FROM ` +
      `(SELECT ${owner}, at FROM ${observations} WHERE ${within} ` +
      `ORDER BY ${owner}, at LIMIT ${STEP_MAX_ROWS}) ` +
      `GROUP BY ${owner} ORDER BY ${owner} LIMIT ${STEP_MAX_ENTITIES})`,
    state: state("?1"),
    survey:
      `SELECT (SELECT count(*) FROM ${observations} WHERE ${within}) AS rows, ` +
      `(${state("?5")}) AS state`,
    remove: `DELETE FROM ${observations} WHERE (${owner}, at) IN (${removable})`,
  };
}
