/** The columns of tables of creators and channels: how collection goes, and a button that removes one. */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import { Instant, Text } from "./figures.tsx";
import { Badge } from "./states.tsx";
import type { Column } from "./table.tsx";

type Collected = Omit<ListedCreator, "creator" | "platform">;

/** Creates the columns. What matters most comes first: a narrow window shows no more. */
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
        <button
          type="button"
          aria-label={`Remove ${getName(target)}`}
          onClick={() => remove(getName(target))}
        >
          Remove
        </button>
      ),
    },
    {
      label: "Last success",
      getValue: ({ last_success }) => last_success,
      render: ({ last_success }) => <Instant value={last_success} />,
    },
    { label: "Next", render: ({ next_due }) => <Instant value={next_due} /> },
    {
      label: "Added",
      getValue: ({ added_at }) => added_at,
      render: ({ added_at }) => <Instant value={added_at} hasTime={false} />,
    },
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
