/** What is not collected, and why: creators whose collection fails, and names that nobody collects. */
import { MetricsError } from "../../../core/client/mod.ts";
import { Fragment } from "preact";
import { formatNumberOf } from "../format.ts";
import { Text } from "../parts/figures.tsx";
import { Reading } from "../parts/states.tsx";
import { WatchTable } from "../parts/watch-list.tsx";
import { createPath } from "../router.ts";
import { useSavedList } from "../lists/saved-lists.ts";
import { getClient } from "../session.ts";
import { useReading } from "../state-hooks.ts";

/** Reads the monitoring list, which is free. @param list A saved list; empty for all creators. */
export function NotCollected({ list }: { readonly list: string }) {
  const read = useReading("creators", async () => (await getClient().creators.list()).body);
  if (read.error instanceof MetricsError && read.error.code === "Forbidden") return null;
  return (
    <section>
      <h2>Collection</h2>
      <Reading read={read}>
        {({ creators }) =>
          list === "" ? (
            <Failures creators={creators} />
          ) : (
            <ListFailures creators={creators} list={list} />
          )
        }
      </Reading>
    </section>
  );
}

type Creators = Readonly<{
  creators: Awaited<
    ReturnType<ReturnType<typeof getClient>["creators"]["list"]>
  >["body"]["creators"];
}>;

function Failures({ creators }: Creators) {
  const failing = creators.filter(({ failure }) => failure !== null);
  if (creators.length === 0) {
    return (
      <p class="muted">
        The service collects no creators. <a href="/creators">Add some to the monitoring list</a>
      </p>
    );
  }
  const waiting = creators.filter(({ last_success, failure }) => !(last_success ?? failure)).length;
  return (
    <>
      <p class="muted">
        {failing.length === 0
          ? `Nothing fails of ${formatNumberOf(creators.length, "creator")}`
          : `Failing: ${failing.length} of ${formatNumberOf(creators.length, "creator")}`}
        {waiting > 0 && `, not collected yet: ${waiting}`}. <a href="/creators">Monitoring list</a>
      </p>
      {failing.length > 0 && (
        <WatchTable
          caption="Not collected, and why"
          kind="creator"
          items={failing}
          getHref={({ creator = "" }) => createPath("users", creator)}
          onRemove={undefined}
        />
      )}
    </>
  );
}

function ListFailures({ creators, list }: Creators & { readonly list: string }) {
  const read = useSavedList(list);
  return (
    <Reading read={read}>
      {({ users }) => {
        const byName = new Map(creators.map((one) => [one.creator.toLowerCase(), one]));
        const missing = users.filter((user) => !byName.has(user.toLowerCase()));
        const listed = users.flatMap((user) => byName.get(user.toLowerCase()) ?? []);
        return (
          <>
            {listed.length > 0 && <Failures creators={listed} />}
            {missing.length > 0 && (
              <p class="muted">
                Not on the monitoring list: <Names names={missing} />.{" "}
                <a href="/creators">Add them</a>
              </p>
            )}
            {users.length === 0 && <p class="muted">The list has no users.</p>}
          </>
        );
      }}
    </Reading>
  );
}

/** A saved list can have thousands of names. */
const NAMES_MAX = 20;

const Names = ({ names }: { readonly names: readonly string[] }) => (
  <>
    {names.slice(0, NAMES_MAX).map((name, nth) => (
      <Fragment key={name}>
        {nth > 0 && ", "}
        <Text value={name} />
      </Fragment>
    ))}
    {names.length > NAMES_MAX && ` and ${names.length - NAMES_MAX} more`}
  </>
);
