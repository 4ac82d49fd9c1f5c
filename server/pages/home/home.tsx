/** Home answers what happened: movers, breakout items, milestones, and what is not collected. */
import type { ComponentChildren } from "preact";
import { MetricsError } from "../../../core/client/mod.ts";
import { hasDerivedFigures } from "../derived-figures.ts";
import { formatExact, formatNumberOf } from "../format.ts";
import {
  HOME_PRICE_MAX,
  PERCENT_COUNT_MIN,
  selectMovers,
  useMovers,
  type Movers,
} from "./movers.ts";
import { COUNT_LABELS, getMainGain, getPercentName, getPluralLabel } from "../labels.ts";
import { readCount, type OwnerPages, type OwnerRow } from "../owners/owner-pages.ts";
import { NeverObserved } from "../owners/never-observed.tsx";
import { OWNERS } from "../owners/owners.ts";
import { Heading } from "../parts/frame.tsx";
import { SavedListSelect } from "../lists/saved-list-fields.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createPrice, isAdministrator, session } from "../session.ts";
import { createPath, useAddress } from "../router.ts";
import type { Read } from "../state-hooks.ts";
import { Breakouts } from "./breakout-tables.tsx";
import { HOME_ROWS_MAX, Milestones } from "./milestones.tsx";
import { NotCollected } from "./not-collected.tsx";
import { createGainColumns, createNameColumn } from "../views/owner-table.tsx";

export function Home() {
  const list = useAddress().query.get("list") ?? "";
  return <HomeOf key={list} list={list} />;
}

function HomeOf({ list }: { readonly list: string }) {
  const [channelPages, userPages] = OWNERS;
  const owners = [
    { owner: channelPages, movers: useMovers(channelPages, list) },
    { owner: userPages, movers: useMovers(userPages, list) },
  ];
  return (
    <>
      <Heading
        text="This week"
        below={
          <p class="muted">
            What changed in seven days, until the newest observation of each.
            {!isAdministrator(session.get().apiKey) &&
              ` Looking at it costs at most ${formatNumberOf(HOME_PRICE_MAX, "credit")}.`}
          </p>
        }
      >
        <SavedListSelect all="All creators" />
      </Heading>
      {owners.map(({ owner, movers }) => (
        <Section key={owner.kind} title={getPluralLabel(owner.kind)} read={movers.byNumber}>
          {({ items }) => <MoverTables owner={owner} items={items} movers={movers} list={list} />}
        </Section>
      ))}
      <Breakouts list={list} spent={owners.map(({ movers }) => movers.credits)} />
      <Milestones
        owners={owners.map(({ owner, movers: { rows } }) => ({ owner, rows }))}
        isComplete={owners.every(({ movers }) => movers.byNumber.value?.hasMore === false)}
      />
      <NotCollected list={list} />
    </>
  );
}

/** A part of the page. What the key may not read is left out. */
function Section<Value>({
  title,
  read,
  children,
}: Readonly<{
  title: string;
  read: Read<Value>;
  children: (value: Value) => ComponentChildren;
}>) {
  if (read.error instanceof MetricsError && read.error.code === "Forbidden") return null;
  return (
    <section>
      <h2>{title}</h2>
      <Reading read={read}>{children}</Reading>
    </section>
  );
}

function MoverTables({
  owner,
  items,
  movers: { byPercent },
  list,
}: Readonly<{ owner: OwnerPages; items: readonly OwnerRow[]; movers: Movers; list: string }>) {
  const { kind, path } = owner;
  const gain = getMainGain(kind, "weekly");
  const percent = getPercentName(gain);
  const gained = getGainedLabel(owner);
  const createHref = (query: Readonly<Record<string, string>>) =>
    `/${path}?${new URLSearchParams({ ...query, ...(list !== "" && { list }) })}`;
  if (items.length === 0) return <NoMovers owner={owner} list={list} />;
  return (
    <div class="columns">
      <div>
        <MoverTable owner={owner} rows={items} sort={gain} caption={`By ${gained} gained`}>
          <a href={createHref({ sort: gain })}>All by gain</a> ·{" "}
          <a href={createHref({ sort: gain, order: "asc" })}>Losses first</a>
        </MoverTable>
      </div>
      {hasDerivedFigures(kind) && (
        <div>
          <Reading read={byPercent}>
            {({ items: rows }) => (
              <MoverTable
                owner={owner}
                rows={rows}
                sort={percent}
                caption={
                  list === ""
                    ? `In %, of at least ${formatExact(PERCENT_COUNT_MIN)} ${gained}`
                    : "In %"
                }
              >
                <a href={createHref({ sort: percent, min: String(PERCENT_COUNT_MIN) })}>All in %</a>
              </MoverTable>
            )}
          </Reading>
        </div>
      )}
    </div>
  );
}

/** What an owner gains, in a sentence: subscribers or followers. */
const getGainedLabel = ({ kind, listedCounts: [main = ""] }: OwnerPages) =>
  COUNT_LABELS[kind][main]?.toLowerCase() ?? "";

function NoMovers({ owner, list }: Readonly<{ owner: OwnerPages; list: string }>) {
  return list === "" ? (
    <NeverObserved owner={owner} />
  ) : (
    <p class="muted">
      None of this list. <a href={createPath("lists", list)}>Add {owner.path} to it</a>
    </p>
  );
}

/** The movers among rows that are sorted by a gain. The children are links to all rows. */
function MoverTable({
  owner,
  rows,
  sort,
  caption,
  children,
}: Readonly<{
  owner: OwnerPages;
  rows: readonly OwnerRow[];
  sort: string;
  caption: string;
  children: ComponentChildren;
}>) {
  const { kind, listedCounts } = owner;
  const [main = ""] = listedCounts;
  const columns: readonly Column<OwnerRow>[] = [
    createNameColumn(owner),
    {
      label: COUNT_LABELS[kind][main] ?? "",
      as: "count",
      getValue: ({ counts }) => readCount(counts, main),
    },
    ...createGainColumns(kind, main, "weekly"),
  ];
  return (
    <>
      <Table
        caption={caption}
        columns={columns}
        items={selectMovers(owner, rows, sort).slice(0, HOME_ROWS_MAX)}
        getKey={({ id }) => id}
        isSmall
        empty={`No ${kind} gained ${getGainedLabel(owner)} in this week.`}
      />
      <p class="hint">
        {children}
        {createPrice(1)}
      </p>
    </>
  );
}
