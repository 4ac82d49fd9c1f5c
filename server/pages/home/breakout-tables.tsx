/** Home's breakouts: the shorts and tweets of the last days beside others of their creators. */
import { useState } from "preact/hooks";
import { MetricsError } from "../../../core/client/mod.ts";
import type { ItemKind } from "../../../core/kinds.ts";
import { BREAKOUT_DAYS, readBreakouts, type Breakout } from "./breakouts.ts";
import { hasDerivedFigures } from "../derived-figures.ts";
import { HOME_PRICE_MAX } from "./movers.ts";
import { useRead } from "../hooks.ts";
import { getPluralLabel, KIND_LABELS } from "../labels.ts";
import { Below, NameCell } from "../parts/figures.tsx";
import { Button } from "../parts/form.tsx";
import { Age, Multiple } from "../items/item-figures.tsx";
import { Picture } from "../parts/picture.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createPrice } from "../session.ts";
import { createPath } from "../router.ts";
import { HOME_ROWS_MAX } from "./milestones.tsx";

/** @param spent What the movers cost; unknown while they are read. */
export function Breakouts({
  list,
  spent,
}: Readonly<{ list: string; spent: readonly (number | undefined)[] }>) {
  const [isAsked, setAsked] = useState(false);
  const kinds = (["short", "tweet"] as const).filter(hasDerivedFigures);
  const [first, second] = kinds;
  if (first === undefined) return null;
  const sum = spent.reduce<number>((total, credits) => total + (credits ?? Infinity), 0);
  const isPaid = isAsked || sum + kinds.length <= HOME_PRICE_MAX;
  return (
    <section>
      <h2>Breakouts of {BREAKOUT_DAYS} days</h2>
      <div class="columns">
        <BreakoutTable kind={first} list={list} />
        {second !== undefined && isPaid && <BreakoutTable kind={second} list={list} />}
        {second !== undefined && !isPaid && sum < Infinity && (
          <p>
            <Button
              label={`Show ${getPluralLabel(second).toLowerCase()}, too${createPrice(1)}`}
              onClick={() => setAsked(true)}
            />
          </p>
        )}
      </div>
    </section>
  );
}

function BreakoutTable({ kind, list }: Readonly<{ kind: ItemKind; list: string }>) {
  const read = useRead(["breakouts", kind, list], (client) => readBreakouts(kind, client, list));
  if (read.error instanceof MetricsError && read.error.code === "Forbidden") return null;
  const plural = getPluralLabel(kind);
  const [ownerPath, itemPath] = kind === "short" ? ["channels", "shorts"] : ["users", "tweets"];
  const columns: readonly Column<Breakout>[] = [
    {
      label: KIND_LABELS[kind],
      as: "name",
      render: ({ id, owner, ownerName, title, picture }) => (
        <NameCell
          href={createPath(ownerPath, owner, itemPath, id)}
          name={title}
          picture={<Picture of={picture} name={kind === "short" ? title : ownerName} />}
          below={<Below value={ownerName} />}
        />
      ),
    },
    { label: "Age", as: "exact", render: ({ publishedAt }) => <Age since={publishedAt} /> },
    { label: "Views", as: "count", field: "views" },
    { label: "× median", as: "count", render: ({ multiple }) => <Multiple value={multiple} /> },
  ];
  return (
    <div>
      <Reading read={read}>
        {(breakouts) => (
          <Table
            caption={`${plural} with most views beside others of their creators at the same age`}
            columns={columns}
            items={breakouts.slice(0, HOME_ROWS_MAX)}
            getKey={({ id }) => id}
            isSmall
            empty={`No ${kind} of ${BREAKOUT_DAYS} days has more views than the median of its creator.`}
          />
        )}
      </Reading>
    </div>
  );
}
