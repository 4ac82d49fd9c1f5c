/** The table of collected creators or channels: how collection goes, and a button that removes one. */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import { Instant, Text } from "./figures.tsx";
import { Button } from "./form.tsx";
import { Badge } from "./states.tsx";
import { Table, type Column } from "./table.tsx";

export type Watched = Omit<ListedCreator, "creator" | "platform">;

/** The most important columns come first: a narrow window shows no more. */
export function WatchTable<Target extends Watched>({
  name,
  onRemove,
  ...table
}: {
  readonly caption: string;
  readonly items: readonly Target[];
  readonly empty: string;
  readonly isCut?: boolean;
  readonly name: Pick<Column<Target>, "label" | "getHref"> & {
    readonly getValue: (target: Target) => string;
  };
  readonly onRemove: (name: string) => void;
}) {
  const { getValue: getName } = name;
  const columns: readonly Column<Target>[] = [
    { as: "name", ...name },
    { label: "State", getValue: ({ failure }) => failure, render: State },
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
    { label: "Last success", as: "instant", getValue: ({ last_success }) => last_success },
    { label: "Next", render: ({ next_due }) => <Instant value={next_due} /> },
    { label: "Added", as: "date", getValue: ({ added_at }) => added_at },
  ];
  return <Table columns={columns} getKey={getName} {...table} />;
}

function State({ failure, last_failure, last_success }: Watched) {
  if (failure !== null) {
    return (
      <>
        <Badge kind="bad">failing</Badge>{" "}
        {last_failure !== null && <Instant value={last_failure} />} <Text value={failure} />
      </>
    );
  }
  return last_success === null ? <Badge kind="plain">new</Badge> : <Badge kind="good">ok</Badge>;
}
