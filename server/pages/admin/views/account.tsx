/** One account: its balance, its keys, its usage, and its statement. */
import { formatExact } from "../../format.ts";
import { Figures, Instant, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Empty } from "../../parts/states.tsx";
import { createFragment } from "../address.ts";
import { useDialog } from "../forms.tsx";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminAccount } from "../resources.ts";
import { Balance } from "./accounts.tsx";
import { createGrantForm, createLowBalanceForm } from "./credits.tsx";
import { Keys } from "./keys.tsx";
import { Statement } from "./statement.tsx";
import { Usage } from "./usage.tsx";

export function Account({ name, query }: Readonly<{ name: string; query: URLSearchParams }>) {
  const accounts = useAdminRead<readonly AdminAccount[]>("accounts");
  return (
    <>
      <p class="crumbs">
        <a href="#accounts">All accounts</a>
      </p>
      <h1>
        <Text value={name} />
      </h1>
      <Reading read={accounts}>
        {(all) => {
          const account = all.find((candidate) => candidate.name === name);
          return account === undefined ? (
            <Empty>There is no account with this name.</Empty>
          ) : (
            <Details account={account} query={query} reload={accounts.reload} />
          );
        }}
      </Reading>
    </>
  );
}

function Details(properties: {
  readonly account: AdminAccount;
  readonly query: URLSearchParams;
  readonly reload: () => void;
}) {
  const { account, query, reload } = properties;
  const { name, granted, debited, refunded, used_30_days, low_balance, created_at } = account;
  const { open, dialog, message } = useDialog(reload);
  return (
    <>
      <p class="muted">
        Created <Instant value={created_at} />
      </p>
      <Figures
        items={[
          ["Balance", <Balance account={account} />],
          ["Granted", formatExact(granted)],
          ["Used", formatExact(debited - refunded)],
          ["Used in 30 days", formatExact(used_30_days)],
          ["Refunded", formatExact(refunded)],
          ["Low below", low_balance === null ? "not set" : formatExact(low_balance)],
        ]}
      />
      <div class="row">
        <Button
          label="Grant credits"
          look="primary"
          onClick={() => open(createGrantForm(account))}
        />
        <Button label="Set when it is low" onClick={() => open(createLowBalanceForm(account))} />
        <a href={createFragment("notices", undefined, { account: name })}>Its notices</a>
      </div>
      {message}
      <Keys account={name} />
      <Usage account={name} query={query} />
      {/* Another sum is another statement. */}
      <Statement key={`${granted}`} account={name} createdAt={created_at} />
      {dialog}
    </>
  );
}
