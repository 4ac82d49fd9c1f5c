/** Names of tables and columns of each entity kind, SQL to read them, layouts of stored points. */
import { getTableColumns, getTableName } from "drizzle-orm";
import {
  ENTITY_FIELDS,
  KINDS,
  type EntityFields,
  type EntityKind,
  type ItemKind,
  type OwnerKind,
} from "../../../core/kinds.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS, listSortedGains } from "../../../core/growth.ts";
import { channels, shorts, toColumnName, tweets, users } from "./entity-tables.ts";

const COUNT_NUMBER_MAX = 29;
const HEADER_END = ".";

const ENTITY_TABLES = { channel: channels, short: shorts, user: users, tweet: tweets };

type ItemTables = ReturnType<typeof createItemTables>;
export type KindTables = ReturnType<typeof createKindTables> & Partial<Pick<ItemTables, "owner">>;

function createKindTables(kind: EntityKind) {
  const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const sorted = new Set<string>(listSortedGains(kind));
  const allGains = Object.entries(GAIN_DEFINITIONS[kind]).map(([name, { count, period }]) => ({
    name,
    countIndex: counts.indexOf(count),
    days: GAIN_PERIOD_DAYS[period],
  }));
  const gains = allGains.filter(({ name }) => sorted.has(name));
  const isGain = new Set(gains.map(({ name }) => toColumnName(name)));
  const entities = ENTITY_TABLES[kind];
  return {
    kind,
    idField,
    attributes,
    counts,
    /** The gains that the entity table has. */
    gains,
    otherGains: allGains.filter(({ name }) => !sorted.has(name)),
    entityTable: getTableName(entities),
    historyTable: `${kind}_histories`,
    entityColumn: kind,
    pointLayout: createPointLayout(Object.values(KINDS[kind].counts)),
    /** All columns of the entity table but gains, which change when observations are removed. */
    stateColumns: Object.keys(getTableColumns(entities)).filter((name) => !isGain.has(name)),
  };
}

/**
 * @param keyColumn The column with the key of the owner.
 * @param publishedColumn The column with the instant of publication; an item without it is not listed.
 */
const createItemTables = (kind: ItemKind, keyColumn: string, publishedColumn: string) => ({
  ...createKindTables(kind),
  owner: { ...KINDS[kind].owner, keyColumn },
  publishedColumn,
});

export const KIND_TABLES: Readonly<Record<OwnerKind, KindTables> & Record<ItemKind, ItemTables>> = {
  channel: createKindTables("channel"),
  short: createItemTables("short", shorts.channel_key.name, shorts.published_at.name),
  user: createKindTables("user"),
  tweet: createItemTables("tweet", tweets.user.name, tweets.created_at.name),
};

const BOOLEAN_FIELDS = new Set(
  Object.values(KINDS).flatMap(({ attributes }) =>
    Object.entries(attributes).flatMap(([field, type]) => (type === "boolean" ? [field] : [])),
  ),
);

/** The value of a field for JSON, as SQL: SQLite stores booleans as 0 and 1. */
export function fieldValueSql(field: string, column: string = toColumnName(field)): string {
  return BOOLEAN_FIELDS.has(field)
    ? `json(CASE ${column} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END)`
    : column;
}

/**
 * A number for JSON, as SQL. SQLite writes 15 digits, which are all of a metric below 10^11: it has 4
 * decimals. To write all digits of any number would take a page of 100 rows 1.5 times as long.
 */
export const exactNumberSql = (number: string): string =>
  `iif(${number} IS NULL OR abs(${number}) < 1e11, ${number}, json(printf('%!.17g', ${number})))`;

export function fieldsJsonSql({ properties }: { readonly properties: object }): string {
  const members = Object.keys(properties).map((field) => `'${field}', ${fieldValueSql(field)}`);
  return `json_object(${members.join(", ")})`;
}

export function attributesJsonSql({ attributes }: KindTables): string {
  const members = Object.keys(attributes).map((field) => {
    const column = `e.${toColumnName(field)}`;
    const attribute = `json_object('value', ${fieldValueSql(field, column)}, 'at', ${column}_at)`;
    return `'${field}', iif(${column}_at IS NULL, NULL, ${attribute})`;
  });
  // A patch leaves out values that are NULL.
  return `json_patch('{}', json_object(${members.join(", ")}))`;
}

/** SQL of an element of an array, `json_each.value` by default; `->>` would take twice the time. */
export function jsonExtractSql(index: number, array = "value"): string {
  return `json_extract(${array}, '$[${index}]')`;
}

/**
 * Creates the layout of points: which counts a chunk of a stored history has, by their numbers in
 * core's `KINDS`, ascending. Each chunk begins with a header that names them, so that it stays
 * readable when its kind gets another count, or loses one. A header is a whole number in base 32,
 * whose bits are these numbers, and a dot.
 */
export function createPointLayout(countNumbers: readonly number[]) {
  const bits = countNumbers.reduce((sum, number) => sum | (1 << number), 0);
  if (listBits(bits).join() === countNumbers.join()) {
    return { countNumbers, header: bits.toString(32) + HEADER_END };
  }
  throw new Error(
    `The numbers of counts must ascend from 0 to ${COUNT_NUMBER_MAX}, got ${countNumbers.join()}`,
  );
}

/** Parses the header at the beginning of a chunk; `undefined` if there is none. */
export function parsePointLayout(text: string) {
  const header = text.slice(0, text.indexOf(HEADER_END) + 1);
  const layout = createPointLayout(listBits(Number.parseInt(header, 32)));
  return layout.header === header ? layout : undefined;
}

function listBits(bits: number): number[] {
  const numbers = Array.from({ length: COUNT_NUMBER_MAX + 1 }, (_, number) => number);
  return numbers.filter((number) => (bits & (1 << number)) !== 0);
}
