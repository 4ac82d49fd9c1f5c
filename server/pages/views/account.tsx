/** The account of the tab's API key: its balance, its usage, and a button to forget the key. */
import { formatExact } from "../format.ts";
import { Figures, Text } from "../parts/figures.tsx";
import { Button } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { Reading } from "../parts/states.tsx";
import { UsageOfDays, UsageTable } from "../parts/usage.tsx";
import { getClient, readAccount, setApiKey } from "../session.ts";
import { useReading } from "../state-hooks.ts";

export function Account() {
  const read = useReading("account", readAccount);
  return (
    <>
      <Heading text="Account" />
      <Reading read={read}>
        {({ account: name, balance, usage }) => (
          <>
            <Figures
              items={[
                ["Credits left", formatExact(balance)],
                [
                  "Used in 30 days",
                  formatExact(usage.reduce((sum, row) => sum + row.credits - row.refunded, 0)),
                ],
                ["Account", <Text value={name} />],
              ]}
            />
            <h2>Usage</h2>
            <UsageOfDays usage={usage} label="30 days" renderGroups={(by) => <Groups by={by} />} />
          </>
        )}
      </Reading>
      <p class="row">
        <Button label="Forget the key" onClick={() => setApiKey(null)} />
        <a href="/swagger">API reference</a>
      </p>
    </>
  );
}

function Groups({ by }: { readonly by: "endpoint" | "key" }) {
  const read = useReading(`account by ${by}`, () => getClient().account({ by }));
  return (
    <Reading read={read}>{({ body: { usage } }) => <UsageTable by={by} usage={usage} />}</Reading>
  );
}
