/** Sparklines of lists. They cost a credit a row, so they are read when the visitor asks for them. */
import { useState } from "preact/hooks";
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import type { ComparisonTable } from "../../../core/responses/histories.ts";
import { findChangeSinceStart } from "../changes.ts";
import { getClient, readFirstPage } from "../session.ts";
import { ChangeSinceStart, Percent } from "./figures.tsx";
import { Sparkline } from "../charts/sparkline.tsx";
import type { Column } from "./table.tsx";

/** The trends of a list. */
export type Trends = ReturnType<typeof useTrends>;

/** What was read in this tab: the values of each entity, oldest first. */
const known = {
  channel: new Map<string, readonly (number | null)[]>(),
  user: new Map<string, readonly (number | null)[]>(),
};

export function useTrends(kind: keyof typeof known) {
  const [status, setStatus] = useState<{ isLoading: boolean; error?: unknown }>({
    isLoading: false,
  });
  async function read(names: readonly string[]): Promise<void> {
    const missing = names.filter((name) => !known[kind].has(name));
    for (let from = 0; from < missing.length; from += COMPARISON_MAX_NAMES) {
      const group = missing.slice(from, from + COMPARISON_MAX_NAMES);
      const { rows } = await readTable(kind, group);
      for (const [index, name] of group.entries()) {
        known[kind].set(
          name,
          rows.map(({ values }) => values[index] ?? null),
        );
      }
    }
  }
  return {
    ...status,
    values: known[kind],
    readAll(names: readonly string[]): void {
      setStatus({ isLoading: true });
      read(names).then(
        () => setStatus({ isLoading: false }),
        (error: unknown) => setStatus({ isLoading: false, error }),
      );
    },
  };
}

/** Reads the first page of a comparison: every day of 30. */
async function readTable(
  kind: keyof typeof known,
  names: readonly string[],
): Promise<ComparisonTable> {
  const { video, microblog } = getClient();
  const { body } =
    kind === "channel"
      ? await readFirstPage<ComparisonTable>(video.compare(names))
      : await readFirstPage<ComparisonTable>(microblog.compare(names));
  return body;
}

/** The columns of what was read: the line, and what it comes to. */
export function createTrendColumns<Entity>(
  trends: Trends,
  getName: (entity: Entity) => string,
): Column<Entity>[] {
  const getCounts = (entity: Entity) => trends.values.get(getName(entity)) ?? [];
  return [
    {
      label: "30 days",
      render: (entity) => {
        const name = getName(entity);
        const values = trends.values.get(name);
        return values !== undefined && <Sparkline values={values} label={`30 days of ${name}`} />;
      },
    },
    {
      label: "Change",
      isNumeric: true,
      render: (entity) => <ChangeSinceStart counts={getCounts(entity)} />,
    },
    {
      label: "In %",
      isNumeric: true,
      render: (entity) => (
        <Percent value={findChangeSinceStart(getCounts(entity), { isPercent: true })} />
      ),
    },
  ];
}

export function TrendsButton({
  trends,
  names,
}: {
  readonly trends: Trends;
  readonly names: readonly string[];
}) {
  const missing = names.filter((name) => !trends.values.has(name)).length;
  if (missing === 0) return null;
  return (
    <p class="row">
      <button type="button" disabled={trends.isLoading} onClick={() => trends.readAll(names)}>
        {trends.isLoading
          ? "Loading…"
          : `Show trends of 30 days (${missing} ${missing === 1 ? "credit" : "credits"})`}
      </button>
      {trends.error !== undefined && (
        <span role="alert" class="loss">
          {trends.error instanceof Error ? trends.error.message : "It failed"}
        </span>
      )}
    </p>
  );
}
