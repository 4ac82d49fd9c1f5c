/** The statement of an account: grants, debits and refunds, of 30 days at a time. */
import { useState } from "preact/hooks";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../../core/time.ts";
import { formatExact, formatLocal } from "../../format.ts";
import { saveCsv } from "../../save-file.ts";
import { Below, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { sendAdmin } from "../api.ts";
import { formatNumberOf, Reading } from "../parts.tsx";
import { useReading } from "../reads.ts";
import type { AdminStatementLine } from "../resources.ts";

const PERIOD_MS = 30 * DAY_MS;

/** Requests for one period: each gives about 1,000 lines. */
const REQUESTS_MAX = 20;

interface Lines {
  /** The newest first. */
  readonly lines: readonly AdminStatementLine[];
  /** Whether there are more than can be shown. */
  readonly isCut: boolean;
}

/** Reads the lines from one hour to another one, which is excluded. */
async function readLines(account: string, from: number, to: number): Promise<Lines> {
  const lines: AdminStatementLine[] = [];
  const until = formatInstant(to);
  let since: string | null = formatInstant(from);
  for (let count = 0; since !== null && count < REQUESTS_MAX; count++) {
    const path: string = `statement?${new URLSearchParams({ account, since, until })}`;
    const page = await sendAdmin<{ lines: AdminStatementLine[]; next: string | null }>("GET", path);
    lines.push(...page.lines);
    since = page.next;
  }
  return { lines: lines.toReversed(), isCut: since !== null };
}

export function Statement({
  account,
  createdAt,
}: {
  readonly account: string;
  readonly createdAt: string;
}) {
  const [now] = useState(() => (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS);
  const [period, setPeriod] = useState(0);
  const to = now - period * PERIOD_MS;
  const from = to - PERIOD_MS;
  const read = useReading(`${account} ${from}`, () => readLines(account, from, to));
  return (
    <section aria-labelledby="statement-title">
      <h2 id="statement-title">Statement</h2>
      <div class="row">
        <Button
          label="Earlier"
          isDisabled={from <= Date.parse(createdAt)}
          onClick={() => setPeriod(period + 1)}
        />
        <Button label="Later" isDisabled={period === 0} onClick={() => setPeriod(period - 1)} />
        <span role="status">
          {formatLocal(from, false)} – {formatLocal(to, false)}
        </span>
      </div>
      <Reading read={read}>
        {({ lines, isCut }) =>
          lines.length === 0 ? (
            <Empty>Nothing was granted or charged in these 30 days.</Empty>
          ) : (
            <LineTable
              lines={lines}
              isCut={isCut}
              fileName={`statement-${formatInstant(from).slice(0, 10)}.csv`}
            />
          )
        }
      </Reading>
    </section>
  );
}

const COLUMNS: readonly Column<AdminStatementLine>[] = [
  { label: "Time", as: "instant", getValue: ({ at }) => at },
  {
    label: "What",
    render: ({ kind }) => <Badge kind={kind === "grant" ? "good" : "plain"}>{kind}</Badge>,
  },
  {
    label: "Amount",
    as: "exact",
    render: ({ kind, amount }) => (
      <>
        {kind === "debit" ? "−" : "+"}
        {formatExact(amount)}
      </>
    ),
  },
  { label: "Balance", as: "exact", getValue: ({ balance }) => balance },
  { label: "Requests", as: "count", getValue: ({ requests }) => requests },
  { label: "For", render: (line) => <Subject line={line} /> },
];

/** The purpose of a line: a reference and a reason, or an endpoint and a key. */
function Subject({ line }: { readonly line: AdminStatementLine }) {
  const { reference, reason, endpoint, key_begins_with, label } = line;
  const key =
    key_begins_with === null ? null : `${key_begins_with}…${label === null ? "" : ` ${label}`}`;
  const [main, other] = [reference ?? endpoint, reason ?? key];
  return (
    <div class="subject">
      <Text value={main ?? other} />
      <Below value={main === null ? null : other} />
    </div>
  );
}

function LineTable({ lines, isCut, fileName }: Lines & { readonly fileName: string }) {
  return (
    <>
      <Table
        caption={`${formatNumberOf(lines.length, "line")}, the newest first; requests of an hour share a line`}
        columns={COLUMNS}
        items={lines}
        isSortable={false}
        isCut
        getKey={(line) => JSON.stringify(line)}
      />
      <div class="row">
        <Button label="CSV of these lines" onClick={() => download(lines, fileName)} />
        {isCut && <span>There are more: the command credits statement lists all.</span>}
      </div>
    </>
  );
}

const CSV_FIELDS = [
  ...(["at", "kind", "amount", "balance", "requests"] as const),
  ...(["endpoint", "key", "label", "reference", "reason"] as const),
];

function download(lines: readonly AdminStatementLine[], fileName: string): void {
  saveCsv(
    fileName,
    CSV_FIELDS,
    lines.map((line) => CSV_FIELDS.map((name) => line[name])),
  );
}
