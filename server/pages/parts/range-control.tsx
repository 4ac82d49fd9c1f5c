/** The choice of a range: fixed ones, and any days, by their first and last one. */
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { getRangeLabel, parseDays, RANGES, type Range } from "../ranges.ts";
import { setParameters, useAddress } from "../router.ts";
import { Text } from "./figures.tsx";
import { Form } from "./form.tsx";

/** Another range shows other times: a zoom into the range before means nothing there. */
const setRange = (range: string) => setParameters({ range, view: "" });

export function RangeControl({ range, cost }: { readonly range: Range; readonly cost: string }) {
  const asked = useAddress().query.get("range");
  const days = parseDays(range);
  return (
    <>
      <div class="segments" role="group" aria-label="Range">
        {Object.entries(RANGES).map(([name, { label }]) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === range}
            title={name === range ? undefined : cost}
            onClick={() => setRange(name)}
          >
            {label}
          </button>
        ))}
      </div>
      <details class="days" open={days !== undefined}>
        <summary>Dates</summary>
        <DaysForm key={range} range={range} cost={cost} />
      </details>
      {asked !== null && asked !== range && (
        <p role="alert" class="loss">
          <Text value={asked} /> is not a range. Shown instead: {getRangeLabel(range)}. A range is{" "}
          {Object.keys(RANGES).join(", ")}, or two dates such as 2026-10-01..2026-10-15.
        </p>
      )}
    </>
  );
}

function DaysForm({ range, cost }: { readonly range: Range; readonly cost: string }) {
  const { from, to } = parseDays(range) ?? findFixedDays(range);
  return (
    <Form
      class="row"
      onSubmit={({ from: first = "", to: last = "" }) =>
        // Whoever swaps the dates means the days between them.
        setRange(first <= last ? `${first}..${last}` : `${last}..${first}`)
      }
    >
      <label class="control">
        From <input type="date" name="from" required defaultValue={from} />
      </label>
      <label class="control">
        to <input type="date" name="to" required defaultValue={to} />
      </label>
      <button type="submit" title={`Days are those of UTC. ${cost}`}>
        Show
      </button>
    </Form>
  );
}

/** The days of a fixed range until today. All has no first day that is known. */
function findFixedDays(range: Range): Readonly<Record<"from" | "to", string>> {
  const days = Object.entries(RANGES).find(([name]) => name === range)?.[1].days ?? null;
  const toDay = (at: number) => formatInstant(at).slice(0, 10);
  const now = Date.now();
  return { from: days === null ? "" : toDay(now - days * DAY_MS), to: toDay(now) };
}
