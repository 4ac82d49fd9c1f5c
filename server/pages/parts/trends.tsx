/** Sparklines of lists. They cost a credit a row, so they are read when the visitor asks for them. */
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import { findChangeSinceStart } from "../changes.ts";
import type { ListedOwner, OwnerPages } from "../owners/owner-pages.ts";
import type { useProgress } from "../store.ts";
import { getClient } from "../session.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { ChangeSinceStart } from "./figures.tsx";
import { Button } from "./form.tsx";
import { Failed } from "./states.tsx";
import type { Column } from "./table.tsx";

/** The values of each entity, oldest first. */
type Values = Map<string, readonly (number | null)[]>;

/** The values that were read in this tab. */
const known = { channel: new Map() as Values, user: new Map() as Values };

/** Reads every day of 30, ten entities at a time. */
async function readTrends({ kind, compare }: OwnerPages, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += COMPARISON_MAX_NAMES) {
    const group = ids.slice(from, from + COMPARISON_MAX_NAMES);
    const { rows } = await compare(getClient(), group);
    for (const [index, id] of group.entries()) {
      known[kind].set(
        id,
        rows.map(({ values }) => values[index] ?? null),
      );
    }
  }
}

/** The columns of the trends: the line and its change. None before a trend was read. */
export function createTrendColumns(
  { kind }: OwnerPages,
  listed: readonly ListedOwner[],
): Column<ListedOwner>[] {
  const values = known[kind];
  if (!listed.some(({ id }) => values.has(id))) return [];
  const getCounts = ({ id }: ListedOwner) => values.get(id) ?? [];
  return [
    {
      label: "30 days",
      render: (owner) =>
        values.has(owner.id) && (
          <Sparkline values={getCounts(owner)} label={`30 days of ${owner.id}`} />
        ),
    },
    {
      label: "Change",
      as: "change",
      render: (owner) => <ChangeSinceStart counts={getCounts(owner)} />,
    },
    {
      label: "In %",
      as: "percent",
      getValue: (owner) => findChangeSinceStart(getCounts(owner), { isPercent: true }),
    },
  ];
}

/** A button that reads the trends of the listed owners; its list renders again afterwards. */
export function TrendsButton(properties: {
  readonly owner: OwnerPages;
  readonly listed: readonly ListedOwner[];
  readonly progress: ReturnType<typeof useProgress>;
}) {
  const {
    owner,
    listed,
    progress: { progress, follow },
  } = properties;
  const missing = listed.flatMap(({ id }) => (known[owner.kind].has(id) ? [] : [id]));
  if (missing.length === 0) return null;
  const price = `${missing.length} ${missing.length === 1 ? "credit" : "credits"}`;
  return (
    <p class="row">
      <Button
        label={progress.isLoading ? "Loading…" : `Show trends of 30 days (${price})`}
        isDisabled={progress.isLoading}
        onClick={() => follow(readTrends(owner, missing))}
      />
      <Failed error={progress.error} />
    </p>
  );
}
