/** The account of the key: its balance and its usage. */
import type { UsageRow } from "../../../core/resources/generated/types.ts";
import { formatExact } from "../format.ts";
import { useFreeRead } from "../hooks.ts";
import { readAccount, setApiKey } from "../session.ts";
import { Figures, Text } from "../parts/figures.tsx";
import { Button } from "../parts/form.tsx";
import { Heading } from "../parts/heading.tsx";
import { Reading } from "../parts/states.tsx";
import { UsageChart, UsageTable } from "../parts/usage.tsx";

export function Account() {
  const read = useFreeRead("account", readAccount);
  return (
    <>
      <Heading text="Account" />
      <Reading read={read}>
        {({ account: name, balance, usage }) => (
          <>
            <Figures
              items={[
                ["Credits left", formatExact(balance)],
                ["Used in 30 days", formatExact(sum(usage))],
                ["Account", <Text value={name} />],
              ]}
            />
            <h2>Usage</h2>
            <UsageChart usage={usage} label="30 days" />
            <div class="columns">
              <Groups by="endpoint" />
              <Groups by="key" />
            </div>
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

function sum(usage: readonly UsageRow[]): number {
  return usage.reduce((total, { credits, refunded }) => total + credits - refunded, 0);
}

function Groups({ by }: { readonly by: "endpoint" | "key" }) {
  const read = useFreeRead(`account by ${by}`, async ({ account }) => (await account({ by })).body);
  return <Reading read={read}>{({ usage }) => <UsageTable by={by} usage={usage} />}</Reading>;
}
