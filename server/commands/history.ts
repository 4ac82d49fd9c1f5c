/** The command `history`: prints the counts of a channel, a user or one of their items over time. */
import { Option, type Command } from "commander";
import { HISTORY_INTERVALS, type HistoryInterval } from "../../core/buckets.ts";
import { createInvalidRequestError, quoteValue } from "../../core/errors.ts";
import { ENTITY_FIELDS, MAIN_COUNTS, type EntityKind, type OwnerKind } from "../../core/kinds.ts";
import { DAY_MS, HOUR_MS, parseInstant } from "../../core/time.ts";
import { getTimeZone } from "../../core/zones.ts";
import {
  createApiReader,
  createUnknownNameError,
  findOwners,
  OWNER_PATHS,
  readPages,
  type ApiReader,
  type ShownOwner,
} from "./api-reads.ts";
import {
  CommandError,
  INSTANT_OPTION,
  resolveInstant,
  withConnection,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { createCsvOption, createKindOption } from "./show.ts";
import { formatFittingTable, formatJson, joinNumbers } from "./terminal/output.ts";
import { formatSparkline, sampleTimes } from "./terminal/sparkline.ts";
import { formatChange, formatCount } from "./terminal/style.ts";

type HistoryOptions = TextOptions<"item" | "from" | "to" | "zone"> & {
  readonly kind?: OwnerKind;
  readonly interval?: HistoryInterval;
  readonly csv?: true;
};

export function addHistoryCommand(program: Command, context: CommandContext): void {
  program
    .command("history")
    .summary("Prints the counts of a channel, a user or an item over time.")
    .description(
      "Prints the counts of a channel, a user or one of their shorts or tweets over time, oldest " +
        "first, each with its change. An interval without an observation is not listed, and is a " +
        "blank in the line of blocks. It costs no credits.",
    )
    .argument("<name>", "a username, maybe with @, or the identifier of a channel")
    .addOption(createKindOption())
    .option("--item <id>", "the history of this short or tweet")
    .option("--from <instant>", `${INSTANT_OPTION} (default: -30d)`)
    .option("--to <instant>", "until this time (default: the newest observation)")
    .addOption(
      new Option("--interval <interval>", "how observations are grouped (default: day)").choices(
        HISTORY_INTERVALS,
      ),
    )
    .option("--zone <zone>", "the time zone of days, such as Europe/Lisbon (default: UTC)")
    .addOption(createCsvOption("print the CSV of the API"))
    .option("--json", "print the JSON of the API")
    .action(async (name: string, { kind, item, csv, ...range }: HistoryOptions) => {
      const query = {
        from: resolveInstant("from", range.from),
        to: resolveInstant("to", range.to),
        interval: range.interval,
        zone: range.zone,
        format: csv && "csv",
      };
      const found = await withConnection(context, (_, connection) =>
        readHistory(createApiReader(connection), context, { name, kind, item }, query),
      );
      if (csv) return context.writeOut(found.pages.map(cutHeader).join(""));
      const history = joinPages(found.pages);
      if (context.isJson) return context.writeOut(formatJson(history));
      if (history.history.length > 0)
        return context.writeOut(formatHistory(found.kind, history, context));
      context.writeErr("Nothing was observed in this time\n");
      return undefined;
    });
}

interface Target {
  readonly name: string;
  readonly kind: OwnerKind | undefined;
  readonly item: string | undefined;
}

type Query = NonNullable<Parameters<ApiReader>[1]>;

/** Reads the pages of a history, as text. */
async function readHistory(
  read: ApiReader,
  context: CommandContext,
  { name, kind, item }: Target,
  query: Query,
): Promise<{ readonly kind: EntityKind; readonly pages: readonly string[] }> {
  const owners = await findOwners(read, name, kind);
  const histories: { kind: EntityKind; pages: string[] }[] = [];
  for (const owner of owners) {
    const pages: string[] = [];
    const path = listPath(owner, item);
    for await (const response of readPages(read, path, query)) pages.push(await response.text());
    const entity = item === undefined ? owner.kind : OWNER_PATHS[owner.kind].item;
    if (pages.length > 0) histories.push({ kind: entity, pages });
  }
  const [history, other] = histories;
  if (other !== undefined) {
    throw createInvalidRequestError(
      `There is a channel and a user ${quoteValue(name)}; add --kind channel or --kind user`,
    );
  }
  if (history !== undefined) return history;
  if (owners.length === 0) throw await createUnknownNameError(read, context, name, kind);
  const items = owners.map((owner) => OWNER_PATHS[owner.kind].item).join(" or ");
  throw new CommandError(
    `${name} has no ${items} ${quoteValue(item)}; "${context.programName} show ${name}" lists the newest`,
    { code: "Not Found" },
  );
}

function listPath({ kind, id }: ShownOwner, item: string | undefined): readonly string[] {
  const { root, item: segment } = OWNER_PATHS[kind];
  return [root, id, ...(item === undefined ? [] : [segment, item]), "history"];
}

const cutHeader = (csv: string, index: number): string =>
  index === 0 ? csv : csv.slice(csv.indexOf("\n") + 1);

type CountFields = Readonly<Record<string, number | null>>;

interface History {
  readonly interval: HistoryInterval;
  readonly zone?: string;
  readonly history: readonly (Readonly<Record<string, unknown>> & {
    readonly timestamp: string;
    readonly change: CountFields;
  })[];
}

/** Joins the pages of a history to one body: that of the last page, with the items of all. */
function joinPages(pages: readonly string[]): History {
  const bodies = pages.map((text) => JSON.parse(text) as History);
  const [last] = bodies.slice(-1);
  if (last === undefined) throw new Error("A history has a page at least");
  return { ...last, history: bodies.flatMap(({ history }) => history) };
}

/** The lengths of intervals; of months, the average. */
const STEPS_MS: Readonly<Record<HistoryInterval, number>> = {
  raw: 0,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30.436875 * DAY_MS,
};

/** How much of an instant tells its interval. */
const SHOWN_CHARACTERS: Readonly<Record<HistoryInterval, number>> = {
  raw: 19,
  hour: 16,
  day: 10,
  week: 10,
  month: 7,
};

const SPARKLINE_COLUMNS = 60;

function formatHistory(
  kind: EntityKind,
  { interval, zone, history }: History,
  context: CommandContext,
): string {
  const main = MAIN_COUNTS[kind];
  const times = history.map(({ timestamp }) =>
    formatLocalTime(timestamp, zone).slice(0, SHOWN_CHARACTERS[interval]),
  );
  const names: readonly string[] = ENTITY_FIELDS[kind].counts;
  const createTable = (hasChange: (count: string) => boolean) => {
    const columns = names.map((name) => {
      const cells = history.map((item): [string, string] => [
        formatNumber(item[name], formatCount),
        hasChange(name) ? formatNumber(item.change[name], formatChange) : "",
      ]);
      return [name, joinNumbers(cells)] as const;
    });
    const known = columns.filter(([, cells]) => cells.some((cell) => cell !== null));
    const rows = times.map((time, index): Readonly<Record<string, string | null>> => {
      const cells = known.map(([name, column]) => [name, column[index] ?? null] as const);
      return Object.fromEntries([[interval, time], ...cells]);
    });
    return { columns: [interval, ...known.map(([name]) => name)], rows };
  };
  const tables = [
    createTable(() => true),
    createTable((name) => name === main),
    createTable(() => false),
  ];
  const { columns: width = Infinity } = context;
  const points = history.map((item) => {
    const count = item[main];
    return {
      at: parseInstant(item.timestamp) ?? 0,
      count: typeof count === "number" ? count : null,
    };
  });
  const known = points.flatMap(({ count }) => count ?? []);
  const [first, last] = [
    formatNumber(known[0], formatCount),
    formatNumber(known.at(-1), formatCount),
  ];
  const head = `${main.replace("_", " ")}: ${first} `;
  const columns = Math.min(SPARKLINE_COLUMNS, width - head.length - last.length - 1);
  const line = formatSparkline(sampleTimes(points, STEPS_MS[interval], Math.max(1, columns)));
  const sparkline = known.length === 0 ? "" : `${head}${line} ${last}\n\n`;
  return sparkline + formatFittingTable(tables, context);
}

/** Formats the time on the clocks of a zone, by default UTC. */
function formatLocalTime(timestamp: string, zone: string | undefined): string {
  const at = parseInstant(timestamp) ?? 0;
  const offset = zone === undefined ? 0 : getTimeZone(zone).findSpan(at).offset;
  return new Date(at + offset).toISOString().replace("T", " ");
}

const formatNumber = (value: unknown, format: (value: number) => string): string =>
  typeof value === "number" ? format(value) : "";
