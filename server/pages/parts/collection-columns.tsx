/** The columns of tables of creators and channels: how collection goes, and a button that removes one. */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import { Instant, Text } from "./figures.tsx";
import { Button } from "./form.tsx";
import { Badge } from "./states.tsx";
import type { Column } from "./table.tsx";

type Collected = Omit<ListedCreator, "creator" | "platform">;

/** Creates the columns, the most important first: a narrow window shows no more. */
export function createCollectionColumns<Target extends Collected>(
  getName: (target: Target) => string,
  remove: (name: string) => void,
): Column<Target>[] {
  return [
    {
      label: "State",
      getValue: ({ failure }) => failure,
      render: (target) => <State {...target} />,
    },
    {
      label: "Change",
      render: (target) => (
        <Button
          label="Remove"
          about={`Remove ${getName(target)}`}
          onClick={() => remove(getName(target))}
        />
      ),
    },
    { label: "Last success", as: "instant", getValue: ({ last_success }) => last_success },
    { label: "Next", render: ({ next_due }) => <Instant value={next_due} /> },
    { label: "Added", as: "date", getValue: ({ added_at }) => added_at },
  ];
}

function State({ failure, last_failure, last_success }: Collected) {
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
