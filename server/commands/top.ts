/** The command `top`: lists channels, users, shorts or tweets by a figure. */
import { Argument, Option, type Command } from "commander";
import { createInvalidRequestError } from "../../core/errors.ts";
import { ENTITY_FIELDS, MAIN_COUNTS, type EntityKind } from "../../core/kinds.ts";
import { TABLE_LIMIT_MAX } from "../../core/limits.ts";
import { SORT_FIELDS, SORTS } from "../../core/list-sorts.ts";
import { LIST_ORDERS } from "../../core/lists.ts";
import { encodeCsvRow } from "../csv/rows.ts";
import { createApiReader, readBody, readPages, type ApiReader } from "./api-reads.ts";
import {
  parsePositiveInteger,
  resolveInstant,
  withConnection,
  type AdminClient,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { createCsvOption } from "./show.ts";
import { formatJson } from "./terminal/output.ts";
import { formatList, TABLE_FIELDS, type TrendDay, type ListRow } from "./top-tables.ts";

const DEFAULT_LIMIT = 20;

/**
 * The lists: where the API has them, the default figure, the one in place of a derived figure that
 * is not given, and the parameters that options set.
 */
const LISTS = {
  channels: {
    kind: "channel",
    root: "video",
    by: "weeklySubscriberGain",
    parameters: { search: "search", country: "country", min: "minSubscribers" },
  },
  users: {
    kind: "user",
    root: "microblog",
    by: "weeklyFollowerGain",
    parameters: { search: "search", min: "minFollowers" },
  },
  shorts: {
    kind: "short",
    root: "video",
    by: "viewsPerDay",
    byCount: MAIN_COUNTS.short,
    parameters: { of: "channels", from: "from", to: "to" },
  },
  tweets: {
    kind: "tweet",
    root: "microblog",
    by: "impressionsPerDay",
    byCount: MAIN_COUNTS.tweet,
    parameters: { of: "usernames", from: "from", to: "to" },
  },
} as const satisfies Record<string, List>;

interface List {
  readonly kind: EntityKind;
  /** The path of the list below `/api`, and the name of the platform. */
  readonly root: string;
  readonly by: string;
  readonly byCount?: string;
  readonly parameters: TextOptions<FilterName>;
}

const FILTER_NAMES = ["search", "country", "min", "of", "from", "to"] as const;

type FilterName = (typeof FILTER_NAMES)[number];

type TopOptions = TextOptions<FilterName | "by" | "order"> & {
  readonly limit: number;
  readonly csv?: true;
};

export function addTopCommand(program: Command, context: CommandContext): void {
  const sorts = new Set(Object.values(LISTS).flatMap(({ kind }): readonly string[] => SORTS[kind]));
  const names = Object.keys(LISTS);
  program
    .command("top")
    .summary("Lists channels, users, shorts or tweets by a figure.")
    .description(
      "Lists channels or users by a figure, such as the gain of a week, with their gains and the last " +
        "30 days as a line of blocks; or shorts or tweets with their age, views a day, and the " +
        "multiple of what the creator's earlier ones had at that age. Narrow terminals show fewer " +
        "columns. It costs no credits.",
    )
    .addArgument(new Argument("[list]", "what is listed").choices(names).default("channels"))
    .addOption(
      new Option("--by <figure>", "the figure (default: a week's gain, or views a day)").choices([
        ...sorts,
      ]),
    )
    .addOption(new Option("--order <order>", "asc lists the least first").choices(LIST_ORDERS))
    .option("--limit <number>", "at most this many", parsePositiveInteger, DEFAULT_LIMIT)
    .option("--search <text>", "only channels or users with this text in their names")
    .option("--country <code>", "only channels of this country")
    .option("--min <count>", "only those with at least so many subscribers or followers")
    .option("--of <names>", "only items of these channels or users, separated by commas")
    .option("--from <instant>", "only items published from this time on, such as -7d")
    .option("--to <instant>", "only items published before this time")
    .addOption(createCsvOption("print the rows as CSV"))
    .option("--json", "print the rows of the API as JSON")
    .action(async (name: keyof typeof LISTS, options: TopOptions) => {
      const list: List = LISTS[name];
      assertSort(name, options);
      const filters = createFilters(name, options);
      const { sort, fields, rows } = await withConnection(context, (client, connection) =>
        readList(client, createApiReader(connection), name, filters, options),
      );
      if (context.isJson) await context.writeOut(formatJson(rows));
      else if (rows.length === 0) context.writeErr(`There are no such ${name}\n`);
      else if (options.csv) await context.writeOut(formatCsv(list, fields, rows));
      else await context.writeOut(formatList(list.kind, getField(list, sort), rows, context));
    });
}

function assertSort(name: keyof typeof LISTS, { by }: TopOptions): void {
  const sorts: readonly string[] = SORTS[LISTS[name].kind];
  if (by === undefined || sorts.includes(by)) return;
  throw createInvalidRequestError(`${name} can be listed by ${sorts.join(", ")}, not by ${by}`);
}

/** @param derivedMetrics The platforms whose derived figures are given. */
const chooseInitialSort = (
  { root, by, byCount = by }: List,
  derivedMetrics: readonly string[],
): string => (derivedMetrics.includes(root) ? by : byCount);

const getField = ({ kind }: List, sort: string): string => {
  const fields: Readonly<Record<string, string>> = SORT_FIELDS[kind];
  return fields[sort] ?? sort;
};

const chooseFields = (list: List, sort: string): string[] => [
  ...new Set([...TABLE_FIELDS[list.kind], getField(list, sort)]),
];

function createFilters(name: keyof typeof LISTS, options: TopOptions): Record<string, string> {
  const { parameters }: List = LISTS[name];
  const filters: Record<string, string> = {};
  for (const option of FILTER_NAMES) {
    const text = options[option];
    if (text === undefined) continue;
    const parameter = parameters[option];
    if (parameter === undefined) {
      const known = Object.keys(parameters).map((filter) => `--${filter}`);
      throw createInvalidRequestError(`${name} have no --${option}, only ${known.join(", ")}`);
    }
    filters[parameter] = parseFilter(option, parameter, text);
  }
  return filters;
}

function parseFilter(option: FilterName, parameter: string, text: string): string {
  if (option === "from" || option === "to") return resolveInstant(option, text) ?? text;
  // Only an identifier of a channel can begin with @.
  return parameter === "usernames" ? text.replaceAll(/(?<=^|,)\s*@/g, "") : text;
}

async function readList(
  client: AdminClient,
  read: ApiReader,
  name: keyof typeof LISTS,
  filters: Readonly<Record<string, string>>,
  { by, order, limit }: TopOptions,
) {
  const list: List = LISTS[name];
  // Only a service computes the figures of lists by itself.
  const { derived_metrics: derivedMetrics } = await client("POST /admin/figures");
  const sort = by ?? chooseInitialSort(list, derivedMetrics);
  const fields = chooseFields(list, sort);
  const query = { ...filters, sort, order, fields: fields.join() };
  return { sort, fields, rows: await readRows(read, [list.root, name], query, limit) };
}

async function readRows(
  read: ApiReader,
  path: readonly [root: string, list: string],
  query: Readonly<Record<string, string | undefined>>,
  limit: number,
): Promise<ListRow[]> {
  const rows: ListRow[] = [];
  const pages = readPages(read, path, { ...query, limit: Math.min(limit, TABLE_LIMIT_MAX) });
  for await (const response of pages) {
    const body = await readBody<Record<string, readonly ListRow[]>>(response);
    rows.push(...(body[path[1]] ?? []));
    if (rows.length >= limit) break;
  }
  return rows.slice(0, limit);
}

/** Formats rows as the API does. */
function formatCsv({ kind }: List, fields: readonly string[], rows: readonly ListRow[]): string {
  const columns = [ENTITY_FIELDS[kind].idField, ...fields];
  const lines = rows.map((row) =>
    columns.map((column) => {
      const value = row[column];
      return Array.isArray(value) ? formatDailyValues(value) : value;
    }),
  );
  return [columns, ...lines].map(encodeCsvRow).join("");
}

const formatDailyValues = (values: readonly TrendDay[]): string =>
  values.map(({ day, value }) => `${day}:${value}`).join(" ");
