/** The table of collected creators or channels: the state of each, and a button to remove it. */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import { Instant, Text } from "./figures.tsx";
import { Button } from "./form.tsx";
import { Badge } from "./states.tsx";
import { Table, type Column } from "./table.tsx";

type Watched = Omit<ListedCreator, "creator" | "platform"> &
  Readonly<Partial<Record<"creator" | "channel", string>>>;

/** The most important columns come first: a narrow window shows no more. */
export function WatchTable({
  kind,
  getHref,
  onRemove,
  ...table
}: Omit<Parameters<typeof Table<Watched>>[0], "columns" | "getKey"> & {
  readonly kind: "creator" | "channel";
  readonly getHref?: (target: Watched) => string;
  readonly onRemove: (name: string) => void;
}) {
  const label = kind === "creator" ? "Creator" : "Channel";
  const getName = (target: Watched) => target[kind] ?? "";
  const columns: readonly Column<Watched>[] = [
    { label, as: "name", field: kind, ...(getHref !== undefined && { getHref }) },
    { label: "State", field: "failure", render: State },
    {
      label: "Change",
      render: (target) => (
        <Button
          label="Remove"
          about={`Remove ${getName(target)}`}
          onClick={() => onRemove(getName(target))}
        />
      ),
    },
    { label: "Last success", as: "instant", field: "last_success" },
    { label: "Next", render: ({ next_due }) => <Instant value={next_due} /> },
    { label: "Added", as: "date", field: "added_at" },
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
    <Badge kind="good" word="ok" />
  );
}
