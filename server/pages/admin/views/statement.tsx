/** The statement of an account: grants, debits and refunds, 30 days at a time, also as CSV. */
import { useState } from "preact/hooks";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../../core/time.ts";
import { formatExact, formatLocal, formatNumberOf } from "../../format.ts";
import { Below, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { saveCsv } from "../../save-file.ts";
import { sendAdmin, type Resource } from "../api.ts";
import { Reading, useAdminRead } from "../reading.tsx";

type Line = Resource<"Statement">["lines"][number];

const PERIOD_MS = 30 * DAY_MS;

const REQUESTS_MAX = 20;

/** Reads the lines from the hour `from` to before `to`, newest first; `isCut` if there are more. */
async function readLines(account: string, from: number, to: number) {
  const lines: Line[] = [];
  const until = formatInstant(to);
  let since: string | null = formatInstant(from);
  for (let count = 0; since !== null && count < REQUESTS_MAX; count++) {
    const path: string = `statement?${new URLSearchParams({ account, since, until })}`;
    const page = await sendAdmin<Resource<"Statement">>("GET", path);
    lines.push(...page.lines);
    since = page.next;
  }
  return { lines: lines.toReversed(), isCut: since !== null };
}

export function Statement({
  account,
  createdAt,
}: Readonly<{ account: string; createdAt: string }>) {
  const [now] = useState(() => (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS);
  const [period, setPeriod] = useState(0);
  const to = now - period * PERIOD_MS;
  const from = to - PERIOD_MS;
  const read = useAdminRead(`${account} ${from}`, () => readLines(account, from, to));
  return (
    <section aria-labelledby="statement-title">
      <div class="head">
        <h2 id="statement-title">Statement</h2>
        <span role="status" class="muted">
          {formatLocal(from, false)} – {formatLocal(to, false)}
        </span>
        <div class="buttons">
          <Button
            label="Earlier"
            isDisabled={from <= Date.parse(createdAt)}
            onClick={() => setPeriod(period + 1)}
          />
          <Button label="Later" isDisabled={period === 0} onClick={() => setPeriod(period - 1)} />
        </div>
      </div>
      <Reading read={read}>
        {({ lines, isCut }) =>
          lines.length === 0 ? (
            <Empty>Nothing was granted or charged in these 30 days.</Empty>
          ) : (
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
                <Button
                  label="CSV of these lines"
                  onClick={() =>
                    saveCsv(
                      `statement-${formatInstant(from).slice(0, 10)}.csv`,
                      CSV_FIELDS,
                      lines.map((line) => CSV_FIELDS.map((name) => line[name])),
                    )
                  }
                />
                {isCut && <span>There are more: the command credits statement lists all.</span>}
              </div>
            </>
          )
        }
      </Reading>
    </section>
  );
}

const CSV_FIELDS = [
  ...(["at", "kind", "amount", "balance", "requests"] as const),
  ...(["endpoint", "key", "label", "reference", "reason"] as const),
];

const COLUMNS: readonly Column<Line>[] = [
  { label: "Time", as: "instant", field: "at" },
  {
    label: "What",
    render: ({ kind }) => <Badge kind={kind === "grant" ? "good" : "plain"} word={kind} />,
  },
  {
    label: "Amount",
    as: "exact",
    render: ({ kind, amount }) => (kind === "debit" ? "−" : "+") + formatExact(amount),
  },
  { label: "Balance", as: "exact", field: "balance" },
  { label: "Requests", as: "count", field: "requests" },
  { label: "For", render: Subject },
];

function Subject({ reference, reason, endpoint, key_begins_with, label }: Line) {
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
