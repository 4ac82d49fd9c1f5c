/** Compares one count of up to ten channels or users. */
import { useEffect } from "preact/hooks";
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import type { Client, HistoryQuery, Result } from "../../../core/client/mod.ts";
import type { NamedResult } from "../../../core/responses/errors.ts";
import type { ComparisonTable } from "../../../core/responses/histories.ts";
import { computeChangesSinceStart, findChangeSinceStart } from "../changes.ts";
import type { Measure } from "../format.ts";
import { useRead } from "../hooks.ts";
import {
  createGapRule,
  findUnfinishedStart,
  getRangeLabel,
  getTimeScale,
  parseRange,
  planHistory,
  type Range,
} from "../ranges.ts";
import { findLeastSpan, findRoundingStep } from "../rounding.ts";
import { createPath, setParameters, useAddress } from "../router.ts";
import { readFirstPage } from "../session.ts";
import { Chart } from "../charts/chart.tsx";
import { rememberCompared, type ComparedKind } from "../parts/compare-link.tsx";
import { RangeControl, Select } from "../parts/controls.tsx";
import { ChangeSinceStart, Count, Percent, Text } from "../parts/figures.tsx";
import { Heading } from "../parts/profile.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";

const CHANNEL_COUNTS = { subscribers: "Subscribers", viewCount: "Views", videoCount: "Videos" };
const USER_COUNTS = {
  followers_count: "Followers",
  following_count: "Following",
  tweet_count: "Tweets",
};

/** Counts of creators of different sizes are flat lines beside each other; their changes are not. */
const MEASURES: Readonly<Record<Measure, string>> = {
  count: "Counts",
  change: "Change since the start",
  percent: "Change since the start, in %",
};

const MEASURE_NAMES = ["count", "change", "percent"] as const;

/** What a comparison shows, whatever it compares. */
interface Compared extends Pick<ComparisonTable, "rows"> {
  /** What each name means; an error for one that is not found. */
  readonly entities: readonly NamedResult<{ label: string }, { error: string }>[];
  /** When it was requested, in milliseconds since 1970 UTC. */
  readonly readAt: number;
}

export function Compare() {
  const { query } = useAddress();
  const kind = query.get("kind") === "users" ? "users" : "channels";
  const counts: Record<string, string> = kind === "users" ? USER_COUNTS : CHANNEL_COUNTS;
  const [firstCount = ""] = Object.keys(counts);
  const requested = query.get("count") ?? "";
  const count = Object.hasOwn(counts, requested) ? requested : firstCount;
  const names = parseNames(query.get("names") ?? "");
  const range = parseRange(query.get("range"));
  const measure = MEASURE_NAMES.find((known) => known === query.get("show")) ?? "count";
  useEffect(() => rememberCompared(kind, names), [kind, names.join()]);
  return (
    <>
      <Heading text="Compare" />
      <div class="row">
        <Select
          label="Compare"
          name="kind"
          value={kind}
          options={[
            ["channels", "Channels"],
            ["users", "Users"],
          ]}
          dependents={["count", "names"]}
        />
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
        <Select label="Show" name="show" value={measure} options={Object.entries(MEASURES)} />
        <RangeControl range={range} cost="Costs a credit for each name, once" />
      </div>
      <NamesForm names={names} />
      {names.length === 0 ? (
        <Empty>
          Name up to {COMPARISON_MAX_NAMES} channels or users. Each costs a credit, as does each
          further page of a long range.
        </Empty>
      ) : (
        <Comparison {...{ kind, count, names, range, measure }} label={counts[count] ?? count} />
      )}
    </>
  );
}

/** Parses names that are separated by commas. One that is named twice would cost twice. */
function parseNames(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "");
}

function NamesForm({ names }: { readonly names: readonly string[] }) {
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get("names");
        setParameters({ names: parseNames(String(text ?? "")).join(",") });
      }}
    >
      <label for="names">Names, separated by commas</label>
      <input id="names" name="names" size={50} defaultValue={names.join(", ")} key={names.join()} />
      <button type="submit">Compare</button>
    </form>
  );
}

function Comparison({
  kind,
  count,
  names,
  range,
  measure,
  label,
}: {
  readonly kind: ComparedKind;
  readonly count: string;
  readonly names: readonly string[];
  readonly range: Range;
  readonly measure: Measure;
  readonly label: string;
}) {
  const { from, interval, stepMs } = planHistory(range, Date.now());
  const read = useRead(`compare ${kind} ${count} ${names.join()} ${from} ${interval}`, (client) =>
    kind === "users"
      ? compareUsers(client, names, { from, interval, count })
      : compareChannels(client, names, { from, interval, count }),
  );
  return (
    <Reading read={read}>
      {({ entities, rows, readAt }) => {
        const instants = rows.map(({ timestamp }) => Date.parse(timestamp));
        const compared = entities.flatMap((entity, index): ComparedSeries[] => {
          if (!entity.found) return [];
          const counts = rows.map(({ values }) => values[index] ?? null);
          const changes = computeChangesSinceStart(counts);
          const percents = computeChangesSinceStart(counts, { isPercent: true });
          const { name, label: entityLabel } = entity;
          return [{ name, label: entityLabel, count: counts, change: changes, percent: percents }];
        });
        return (
          <>
            {entities
              .filter(({ found }) => !found)
              .map(({ name }) => (
                <p key={name} role="alert" class="loss">
                  <Text value={name} /> is not found.
                </p>
              ))}
            {rows.length === 0 ? (
              <Empty>Nothing was observed in this range.</Empty>
            ) : (
              <>
                {compared.some(({ count: values }) => findRoundingStep(values) > 0) && (
                  <p class="hint">
                    Some {label.toLowerCase()} are rounded by the source: a change of one step can
                    be next to nothing, and is shown as “rounded”.
                  </p>
                )}
                <Chart
                  title={measure === "count" ? label : `${label}: ${lowerFirst(MEASURES[measure])}`}
                  instants={instants}
                  series={compared.map((one) => ({ label: one.label, values: one[measure] }))}
                  measure={measure}
                  leastSpan={findLeastSpan(
                    compared.map(({ count: values }) => values),
                    measure,
                  )}
                  timeScale={getTimeScale(interval)}
                  unfinishedFrom={findUnfinishedStart(instants, interval, readAt)}
                  getGapMs={createGapRule(instants, stepMs)}
                  fileName={`compare-${count}-${measure}-${range}.csv`}
                />
                <Table
                  caption={`${label}: ${getRangeLabel(range)}`}
                  columns={createColumns(kind, names)}
                  items={compared}
                  getKey={(one) => one.name}
                />
              </>
            )}
          </>
        );
      }}
    </Reading>
  );
}

/** What is compared of a channel or user. */
interface ComparedSeries extends Readonly<Record<Measure, readonly (number | null)[]>> {
  /** By which it was requested. */
  readonly name: string;
  readonly label: string;
}

function createColumns(kind: ComparedKind, names: readonly string[]): Column<ComparedSeries>[] {
  const findNewest = ({ count }: ComparedSeries) => count.findLast((value) => value !== null);
  const findPercent = ({ count }: ComparedSeries) =>
    findChangeSinceStart(count, { isPercent: true });
  return [
    {
      label: kind === "users" ? "User" : "Channel",
      getValue: ({ label }) => label.toLowerCase(),
      render: ({ name, label }) => (
        <a href={createPath(kind, name)}>
          <Text value={label} />
        </a>
      ),
    },
    {
      label: "Newest",
      isNumeric: true,
      getValue: (one) => findNewest(one) ?? null,
      render: (one) => <Count value={findNewest(one)} />,
    },
    {
      label: "Change",
      isNumeric: true,
      getValue: ({ count }) => findChangeSinceStart(count),
      render: ({ count }) => <ChangeSinceStart counts={count} />,
    },
    {
      label: "In %",
      isNumeric: true,
      getValue: findPercent,
      render: (one) => <Percent value={findPercent(one)} />,
    },
    {
      label: "Remove",
      render: ({ name, label }) => (
        <button
          type="button"
          class="plain"
          aria-label={`Remove ${label}`}
          title="Compares the others again, for a credit each"
          onClick={() => setParameters({ names: names.filter((other) => other !== name).join() })}
        >
          Remove
        </button>
      ),
    },
  ];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

type ComparisonQuery = HistoryQuery & { readonly count: string };

/** Reads the first page of a comparison of channels; no range here has more. */
async function compareChannels(
  { video }: Client,
  names: readonly string[],
  query: ComparisonQuery,
): Promise<Result<Compared>> {
  // The service checks the count.
  const listing = video.compare(names, query as Parameters<typeof video.compare>[1]);
  const readAt = Date.now();
  const { body, ...result } = await readFirstPage(listing);
  const entities = body.channels.map((entity) =>
    entity.found ? Object.assign(entity, { label: entity.channel }) : entity,
  );
  return { ...result, body: { entities, rows: body.rows, readAt } };
}

async function compareUsers(
  { microblog }: Client,
  names: readonly string[],
  query: ComparisonQuery,
): Promise<Result<Compared>> {
  const listing = microblog.compare(names, query as Parameters<typeof microblog.compare>[1]);
  const readAt = Date.now();
  const { body, ...result } = await readFirstPage(listing);
  const entities = body.users.map((entity) =>
    entity.found ? Object.assign(entity, { label: entity.username }) : entity,
  );
  return { ...result, body: { entities, rows: body.rows, readAt } };
}
