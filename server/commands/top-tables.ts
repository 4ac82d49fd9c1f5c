/** The tables of the command `top`: their columns, and those that terminals of each width have. */
import { PUBLICATION_FIELDS } from "../../core/list-sorts.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS } from "../../core/growth.ts";
import {
  KINDS,
  mapKinds,
  MAIN_COUNTS,
  type EntityKind,
  type ItemKind,
  type OwnerKind,
} from "../../core/kinds.ts";
import { METRICS, PERCENT_SUFFIX } from "../../core/metrics/catalog.ts";
import { DAY_MS, parseInstant } from "../../core/time.ts";
import type { CommandContext } from "./command.ts";
import { formatFittingTable } from "./terminal/output.ts";
import { formatSparkline, sampleCounts } from "./terminal/sparkline.ts";
import { cutText, formatAge, formatChange, formatCount, formatPercent } from "./terminal/style.ts";

/** The known count of a day. */
export interface TrendDay {
  readonly day: string;
  readonly value: number;
}

/** A row of a list of the API. */
export type ListRow = Readonly<Record<string, string | number | null | readonly TrendDay[]>>;

interface Column {
  readonly field: string;
  readonly format: (value: number) => string;
}

type Columns = Readonly<Record<string, Column>>;

const formatRate = (rate: number): string => formatCount(Math.round(rate));
const formatMultiple = (multiple: number): string => multiple.toFixed(2);
const formatShare = (ratio: number): string => formatPercent(100 * ratio).replace("+", "");

/** The figures of each kind, by the headings of their columns. */
const FIGURES: Readonly<Record<EntityKind, Columns>> = mapKinds((kind) =>
  kind === "short" || kind === "tweet" ? createItemFigures(kind) : createOwnerFigures(kind),
);

function createOwnerFigures(kind: OwnerKind): Columns {
  const main = MAIN_COUNTS[kind];
  const figures: Record<string, Column> = { [main]: { field: main, format: formatCount } };
  for (const [name, { count, period }] of Object.entries(GAIN_DEFINITIONS[kind])) {
    if (count !== main) continue;
    const heading = `${GAIN_PERIOD_DAYS[period]} d`;
    figures[heading] = { field: name, format: formatChange };
    figures[`${heading} %`] = { field: name + PERCENT_SUFFIX, format: formatPercent };
  }
  return figures;
}

function createItemFigures(kind: ItemKind): Columns {
  const count = MAIN_COUNTS[kind];
  return {
    views: { field: count, format: formatCount },
    "a day": { field: `${count}PerDay`, format: formatRate },
    "× median": { field: "ageMultiple", format: formatMultiple },
    engaged: { field: "engagement", format: formatShare },
  };
}

const ITEM_TEXTS: Readonly<Record<ItemKind, string>> = { short: "title", tweet: "text" };

/** The fields that the tables of each kind need, beside the identifier. */
export const TABLE_FIELDS: Readonly<Record<EntityKind, readonly string[]>> = mapKinds((kind) => {
  const figures = Object.values(FIGURES[kind]).map(({ field }) => field);
  if (kind === "channel") return ["username", "displayName", ...figures, "observedAt", "trend"];
  if (kind === "user") return ["displayName", ...figures, "observedAt", "trend"];
  const owner = KINDS[kind].owner.field;
  const texts = ["displayName", ITEM_TEXTS[kind], PUBLICATION_FIELDS[kind]];
  return [owner, ...texts, ...figures, "observedAt", "trend"];
});

const NAME_COLUMNS = 24;
const TEXT_COLUMNS = 48;
const NARROW_TEXT_COLUMNS = 28;
const TREND_COLUMNS = 30;
const NARROW_TREND_COLUMNS = 15;

interface Layout {
  readonly columns: readonly string[];
  readonly trendColumns?: number;
  readonly textColumns?: number;
}

/** Formats rows as the widest table that fits the terminal. */
export function formatList(
  kind: EntityKind,
  sortField: string,
  rows: readonly ListRow[],
  context: CommandContext,
): string {
  const shown = Object.values(FIGURES[kind]).map(({ field }) => field);
  const published = Object.values<string>(PUBLICATION_FIELDS);
  const isShown = shown.includes(sortField) || published.includes(sortField);
  const extra = isShown ? [] : [sortField];
  const now = Date.now();
  const isItem = kind === "short" || kind === "tweet";
  const layouts = isItem ? listItemLayouts(kind, extra) : listOwnerLayouts(kind, extra);
  const tables = layouts.map((layout) => ({
    columns: layout.columns,
    rows: rows.map((row) => createCells(kind, row, { ...layout, extra, now })),
  }));
  return formatFittingTable(tables, context);
}

function listOwnerLayouts(kind: OwnerKind, extra: readonly string[]): Layout[] {
  const counts = [MAIN_COUNTS[kind], ...extra];
  const [day, week, month] = [1, 7, 30].map((days) => [`${days} d`, `${days} d %`]);
  const names = ["name", "display_name", ...counts];
  const narrow = { trendColumns: NARROW_TREND_COLUMNS };
  return [
    { columns: [...names, ...(day ?? []), ...(week ?? []), ...(month ?? []), "trend"] },
    { columns: [...names, ...(week ?? []), ...(month ?? []), "trend"] },
    { columns: ["name", ...counts, ...(week ?? []), ...(month ?? []), "trend"], ...narrow },
    { columns: ["name", ...counts, ...(week ?? []), "trend"], ...narrow },
    { columns: ["name", ...counts, ...(week ?? [])] },
  ];
}

function listItemLayouts(kind: ItemKind, extra: readonly string[]): Layout[] {
  const figures = ["age", ...extra, ...Object.keys(FIGURES[kind])];
  const main = figures.slice(0, -1);
  const narrow = { textColumns: NARROW_TEXT_COLUMNS, trendColumns: NARROW_TREND_COLUMNS };
  return [
    { columns: ["by", ITEM_TEXTS[kind], ...figures, "trend", "id"] },
    { columns: ["by", ITEM_TEXTS[kind], ...figures, "id"], ...narrow },
    { columns: ["by", ITEM_TEXTS[kind], ...main], ...narrow },
    { columns: [ITEM_TEXTS[kind], ...main], ...narrow },
  ];
}

function createCells(
  kind: EntityKind,
  row: ListRow,
  options: Layout & { readonly extra: readonly string[]; readonly now: number },
): Readonly<Record<string, string | null>> {
  const { trendColumns = TREND_COLUMNS, textColumns = TEXT_COLUMNS, extra, now } = options;
  const figures = Object.entries(FIGURES[kind]).map(([heading, { field, format }]) => [
    heading,
    formatFigure(row[field], format),
  ]);
  const extras = extra.map((field) => [field, formatFigure(row[field], chooseFormat(kind, field))]);
  const trend = formatSparkline(sampleCounts(listDays(row["trend"], now), trendColumns));
  const cells = { ...Object.fromEntries([...figures, ...extras]), trend };
  const displayName = cutText(readText(row, "displayName"), NAME_COLUMNS);
  if (kind === "channel" || kind === "user") {
    const name = readText(row, "username") || readText(row, "id");
    return { ...cells, name: cutText(name, NAME_COLUMNS), display_name: displayName };
  }
  const owner = readText(row, KINDS[kind].owner.field);
  const published = parseInstant(readText(row, PUBLICATION_FIELDS[kind])) ?? now;
  const text = readText(row, ITEM_TEXTS[kind]).trim().replaceAll(/\s+/g, " ");
  return {
    ...cells,
    id: readText(row, "id"),
    by: displayName || cutText(owner, NAME_COLUMNS),
    age: formatAge(Math.max(0, now - published)),
    [ITEM_TEXTS[kind]]: cutText(text, textColumns),
  };
}

const readText = (row: ListRow, field: string): string => {
  const value = row[field];
  return typeof value === "string" ? value : "";
};

const formatFigure = (value: ListRow[string] | undefined, format: Column["format"]) =>
  typeof value === "number" ? format(value) : null;

/** How a figure is shown that only the sort needs. */
function chooseFormat(kind: EntityKind, field: string): Column["format"] {
  if (field.endsWith(PERCENT_SUFFIX)) return formatPercent;
  if (field in GAIN_DEFINITIONS[kind]) return formatChange;
  return METRICS[kind][field] === undefined ? formatCount : formatRate;
}

/** The values of the 30 days until today in UTC; `null` for a day without one. */
function listDays(values: ListRow[string] | undefined, now: number): (number | null)[] {
  const days: (number | null)[] = Array.from({ length: TREND_COLUMNS }, () => null);
  if (!Array.isArray(values)) return days;
  const today = Math.floor(now / DAY_MS);
  for (const { day, value } of values as readonly TrendDay[]) {
    const index = TREND_COLUMNS - 1 - (today - (parseInstant(day) ?? 0) / DAY_MS);
    if (index >= 0 && index < TREND_COLUMNS) days[index] = value;
  }
  return days;
}
