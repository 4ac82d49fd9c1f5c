/** The table of collected creators or channels: the state of each, and a button to remove it. */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import { Instant, Text } from "./figures.tsx";
import { Button } from "./form.tsx";
import { Badge } from "./states.tsx";
import { Table, type Column } from "./table.tsx";

type Watched = Omit<ListedCreator, "creator" | "platform"> &
  Readonly<Partial<Record<"creator" | "channel", string>>>;

/** A narrow window has the last success below the state, and not when the next one is due. */
export function WatchTable({
  kind,
  getHref,
  onRemove,
  ...table
}: Omit<Parameters<typeof Table<Watched>>[0], "columns" | "getKey"> & {
  readonly kind: "creator" | "channel";
  readonly getHref?: (target: Watched) => string;
  /** Without it, nothing can be removed. */
  readonly onRemove: ((name: string) => void) | undefined;
}) {
  const label = kind === "creator" ? "Creator" : "Channel";
  const getName = (target: Watched) => target[kind] ?? "";
  const columns: readonly Column<Watched>[] = [
    { label, as: "name", field: kind, ...(getHref !== undefined && { getHref }) },
    { label: "State", field: "failure", render: State },
    { label: "Last success", as: "instant", field: "last_success", isWide: true },
    { label: "Next", isWide: true, render: ({ next_due }) => <Instant value={next_due} /> },
    { label: "Added", as: "date", field: "added_at", isWide: true },
    ...(onRemove === undefined
      ? []
      : [
          {
            label: "Change",
            as: "action" as const,
            render: (target: Watched) => (
              <Button
                label="Remove"
                about={`Remove ${getName(target)}`}
                onClick={() => onRemove(getName(target))}
              />
            ),
          },
        ]),
  ];
  return <Table columns={columns} getKey={getName} {...table} />;
}

function State({ failure, last_failure, last_success }: Watched) {
  if (failure !== null) {
    return (
      <>
        <Badge kind="bad" word="failing" />{" "}
        {last_failure !== null && <Instant value={last_failure} />} <Text value={failure} />
      </>
    );
  }
  return last_success === null ? (
    <Badge kind="plain" word="new" />
  ) : (
    <>
      <Badge kind="good" word="ok" />{" "}
      <small class="narrow muted">
        <Instant value={last_success} />
      </small>
    </>
  );
}
