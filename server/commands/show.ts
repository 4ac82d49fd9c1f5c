/** The command `show`: prints what is known of a channel or a user. */
import { Option, type Command } from "commander";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS } from "../../core/growth.ts";
import { ENTITY_FIELDS, MAIN_COUNTS, type OwnerKind } from "../../core/kinds.ts";
import { DAYS_FILTER_RANGE } from "../../core/limits.ts";
import { PERCENT_SUFFIX } from "../../core/metrics/catalog.ts";
import type { ShortsPage, TweetsPage } from "../../core/resources/generated/types.ts";
import { formatInstantOrNull, parseInstant } from "../../core/time.ts";
import { encodeCsvRow } from "../csv/rows.ts";
import {
  createApiReader,
  createUnknownNameError,
  findOwners,
  OWNER_KINDS,
  OWNER_PATHS,
  readBody,
  readGrowth,
  type ApiReader,
  type ShownOwner,
  type Growth,
} from "./api-reads.ts";
import { withConnection, type CommandContext } from "./command.ts";
import { formatJson, formatTable, joinNumbers } from "./terminal/output.ts";
import { formatSparkline } from "./terminal/sparkline.ts";
import {
  cutText,
  formatAge,
  formatChange,
  formatCount,
  formatPercent,
  paint,
} from "./terminal/style.ts";

const ITEMS_MAX = 5;

export const createKindOption = (): Option =>
  new Option("--kind <kind>", "only a channel or only a user of this name").choices(OWNER_KINDS);

export const createCsvOption = (description: string): Option =>
  new Option("--csv", description).conflicts("json");

export function addShowCommand(program: Command, context: CommandContext): void {
  program
    .command("show")
    .summary("Shows a channel or a user: counts, gains, newest items.")
    .description(
      "Shows the channel and the user of a name: their counts, the gains of a day, a week and 30 " +
        "days, the last 30 days as a line of blocks with blanks where nothing was observed, and the " +
        `newest ${ITEMS_MAX} shorts, or tweets of the last ${DAYS_FILTER_RANGE.max} days. It costs ` +
        "no credits.",
    )
    .argument("<name>", "a username, maybe with @, or the identifier of a channel")
    .addOption(createKindOption())
    .addOption(createCsvOption("print each count and its gains as a row of CSV"))
    .option("--json", "print the details, gains, daily values and items as JSON")
    .action(async (name: string, { kind, csv }: { kind?: OwnerKind; csv?: true }) => {
      const now = Date.now();
      const shown = await withConnection(context, async (_, connection) => {
        const read = createApiReader(connection);
        const owners = await findOwners(read, name, kind);
        if (owners.length === 0) throw await createUnknownNameError(read, context, name, kind);
        const reports: Report[] = [];
        for (const owner of owners) {
          const growth = await readGrowth(read, owner, now);
          reports.push({ ...owner, ...growth, items: await readItems(read, owner) });
        }
        return reports;
      });
      if (csv) await context.writeOut(formatCsv(shown));
      else if (context.isJson) await context.writeOut(formatJson(shown.map(toJson)));
      else await context.writeOut(shown.map((one) => formatReport(one, context, now)).join("\n"));
    });
}

interface Item {
  readonly id: string;
  readonly text: string | null;
  readonly publishedAt: string;
  readonly views: number | null;
  /** The fields of the API. */
  readonly fields: object;
}

type Report = ShownOwner & Growth & { readonly items: readonly Item[] };

async function readItems(read: ApiReader, { kind, id: owner }: ShownOwner): Promise<Item[]> {
  const { root } = OWNER_PATHS[kind];
  if (kind === "channel") {
    const response = await read([root, owner, "shorts"], { limit: ITEMS_MAX });
    if (response === undefined) return [];
    const { shorts } = await readBody<ShortsPage>(response);
    return shorts.map((short) => {
      const { id, title: text, publishedAt, views } = short;
      return { id, text, publishedAt, views, fields: short };
    });
  }
  const query = { limit: ITEMS_MAX, days: DAYS_FILTER_RANGE.max };
  const response = await read([root, owner, "tweets"], query);
  if (response === undefined) return [];
  const { tweets } = await readBody<TweetsPage>(response);
  const items = Object.entries(tweets).map(([id, tweet]) => ({
    id,
    text: tweet.text,
    publishedAt: tweet.created_at,
    views: tweet.metrics.at(-1)?.views ?? null,
    fields: { id, ...tweet },
  }));
  // JavaScript lists short numbers first.
  return items.toSorted((a, b) => b.publishedAt.localeCompare(a.publishedAt));
}

function toJson({ kind, name, details, observedAt, metrics, trend, items }: Report) {
  const field = `${OWNER_PATHS[kind].item}s`;
  return {
    kind,
    name,
    observedAt: formatInstantOrNull(observedAt),
    details,
    metrics,
    trend,
    [field]: items.map(({ fields }) => fields),
  };
}

const PERIODS = ["daily", "weekly", "monthly"] as const;

/** Finds the gain of a count over a period, in numbers and in percent. */
function findGain(
  kind: OwnerKind,
  count: string,
  period: (typeof PERIODS)[number],
  metrics: Growth["metrics"],
) {
  const [name = ""] =
    Object.entries(GAIN_DEFINITIONS[kind]).find(
      ([, definition]) => definition.count === count && definition.period === period,
    ) ?? [];
  return { gain: metrics[name] ?? null, percent: metrics[name + PERCENT_SUFFIX] ?? null };
}

const getCount = ({ details }: ShownOwner, name: string): number | null => {
  const value: unknown = Reflect.get(details, name);
  return typeof value === "number" ? value : null;
};

function formatCsv(reports: readonly Report[]): string {
  const gainColumns = PERIODS.flatMap((period) => [`${period}Gain`, `${period}GainPercent`]);
  const columns = ["kind", "name", "observedAt", "count", "value", ...gainColumns];
  const rows = reports.flatMap((report) => {
    const { kind, name, observedAt, metrics } = report;
    return ENTITY_FIELDS[kind].counts.map((count) => {
      const gains = PERIODS.map((period) => findGain(kind, count, period, metrics));
      return [
        kind,
        name,
        formatInstantOrNull(observedAt),
        count,
        getCount(report, count),
        ...gains.flatMap(({ gain, percent }) => [gain, percent]),
      ];
    });
  });
  return [columns, ...rows].map(encodeCsvRow).join("");
}

/** The width of texts that are cut, if the output is no terminal. */
const TEXT_COLUMNS = 100;

function formatReport(report: Report, context: CommandContext, now: number): string {
  const { kind, items } = report;
  const { columns: width = TEXT_COLUMNS, hasOutColors } = context;
  const [title = "", ...facts] = listFacts(report, now).map((line) => cutText(line, width));
  const lines = [hasOutColors ? paint("bold", title) : title, ...facts, ""];
  const head = `${lines.join("\n")}\n${formatGains(report, context)}\n${formatTrend(report)}`;
  const { item } = OWNER_PATHS[kind];
  if (items.length === 0) return `${head}\nNo ${item}s${kind === "user" ? NO_TWEETS : ""}\n`;
  const rows = items.map(({ id, text, publishedAt, views }) => ({
    age: formatAge(Math.max(0, now - (parseInstant(publishedAt) ?? now))),
    views: views === null ? null : formatCount(views),
    [item]: cutText(firstLine(text), Math.max(12, width - ITEM_FIGURES_COLUMNS - id.length)),
    id,
  }));
  return `${head}\n${formatTable<string>(["age", "views", item, "id"], rows, context)}`;
}

const NO_TWEETS = ` in the last ${DAYS_FILTER_RANGE.max} days`;

/** The columns of age and views, with gaps. */
const ITEM_FIGURES_COLUMNS = 26;

const firstLine = (text: string | null): string => (text ?? "").trim().replaceAll(/\s+/g, " ");

function listFacts(report: Report, now: number): string[] {
  const { kind, details, name, observedAt } = report;
  const title = `${details.displayName ?? name}  ${details.username === null ? "" : `@${details.username}`}`;
  const facts =
    report.kind === "channel"
      ? [
          `channel ${report.details.id}`,
          report.details.country,
          formatSince(report.details.joinedAt),
        ]
      : [
          kind,
          report.details.verified === true ? "verified" : null,
          formatSince(report.details.created_at),
        ];
  const description = firstLine(details.description);
  return [
    title.trim(),
    facts.filter((fact) => fact !== null).join(", "),
    ...(description === "" ? [] : [description]),
    observedAt === null ? "never observed" : formatObserved(observedAt, now),
  ];
}

const formatSince = (instant: string | null) =>
  instant === null ? null : `since ${instant.slice(0, 10)}`;

function formatObserved(observedAt: number, now: number): string {
  const instant = formatInstantOrNull(observedAt) ?? "";
  const when = `${instant.slice(0, 10)} ${instant.slice(11, 16)}Z`;
  return `last observed ${formatAge(Math.max(0, now - observedAt))} ago, ${when}`;
}

/** Formats the counts and their gains: a column for each count, a row for each period. */
function formatGains(report: Report, context: CommandContext): string {
  const { kind, metrics } = report;
  const names = ENTITY_FIELDS[kind].counts;
  const columns = names.map((count) => {
    const value = getCount(report, count);
    const gains = PERIODS.map((period): [string, string] => {
      const { gain, percent } = findGain(kind, count, period, metrics);
      return [
        gain === null ? "" : formatChange(gain),
        percent === null ? "" : formatPercent(percent),
      ];
    });
    const cells = joinNumbers([[value === null ? "" : formatCount(value), ""], ...gains]);
    return [count, cells] as const;
  });
  const labels = ["now", ...PERIODS.map((period) => `${GAIN_PERIOD_DAYS[period]} d`)];
  const rows = labels.map((label, index): Readonly<Record<string, string | null>> => {
    const cells = columns.map(([count, column]) => [count, column[index] ?? null] as const);
    return Object.fromEntries([[" ", label], ...cells]);
  });
  return formatTable([" ", ...names], rows, context);
}

function formatTrend({ kind, trend }: Report): string {
  const known = trend.filter((count) => count !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return "";
  const name = MAIN_COUNTS[kind].replace("_", " ");
  return `${name}, 30 days: ${formatCount(first)} ${formatSparkline(trend)} ${formatCount(last)}\n`;
}
