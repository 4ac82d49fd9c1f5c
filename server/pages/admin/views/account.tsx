/** One account: its balance, its keys, its usage, and its statement. */
import type { AccountDetails } from "../../../../core/resources/generated/types.ts";
import { DAY_MS, formatInstant } from "../../../../core/time.ts";
import { formatExact } from "../../format.ts";
import { Figures, Instant, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Empty } from "../../parts/states.tsx";
import { UsageOfDays, UsageTable } from "../../parts/usage.tsx";
import { createFragment } from "../../router.ts";
import type { AdminAccount } from "../api.ts";
import { useDialog } from "../forms.tsx";
import { Reading, useAdminRead } from "../reading.tsx";
import { Balance, createGrantForm, createLowBalanceForm } from "./credits.tsx";
import { Keys } from "./keys.tsx";
import { Statement } from "./statement.tsx";

export function Account({ name, query }: Readonly<{ name: string; query: URLSearchParams }>) {
  const accounts = useAdminRead<readonly AdminAccount[]>("accounts");
  return (
    <>
      <a class="back" href="#accounts">
        ← All accounts
      </a>
      <Reading read={accounts}>
        {(all) => {
          const account = all.find((candidate) => candidate.name === name);
          return account === undefined ? (
            <>
              <PageHead title={<Text value={name} />} />
              <Empty>There is no account with this name.</Empty>
            </>
          ) : (
            <Details account={account} query={query} reload={accounts.reload} />
          );
        }}
      </Reading>
    </>
  );
}

function Details({
  account,
  query,
  reload,
}: Readonly<{ account: AdminAccount; query: URLSearchParams; reload: () => void }>) {
  const { name, granted, debited, refunded, used_30_days, low_balance, created_at } = account;
  const { open, dialog, message } = useDialog(reload);
  return (
    <>
      <PageHead
        title={<Text value={name} />}
        below={
          <p class="muted">
            Created <Instant value={created_at} /> ·{" "}
            <a href={createFragment(["notices"], { account: name })}>Its notices</a>
          </p>
        }
      >
        <Button label="Set when it is low" onClick={() => open(createLowBalanceForm(account))} />
        <Button
          label="Grant credits"
          look="primary"
          onClick={() => open(createGrantForm(account))}
        />
      </PageHead>
      {message}
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
      <Keys account={name} />
      <Usage account={name} query={query} />
      {/* A grant changes the sum, and so renews the statement. */}
      <Statement key={`${granted}`} account={name} createdAt={created_at} />
      {dialog}
    </>
  );
}

const RANGES = [
  ["", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
] as const;

function Usage({ account, query }: Readonly<{ account: string; query: URLSearchParams }>) {
  const [days, label] = RANGES.find(([value]) => value === query.get("days")) ?? RANGES[0];
  const from = formatInstant(Date.now() - (Number(days || 30) - 1) * DAY_MS).slice(0, 10);
  const path = `usage?${new URLSearchParams({ account, from })}`;
  const byDay = useAdminRead<AccountDetails>(path);
  return (
    <section aria-labelledby="usage-title">
      <div class="head">
        <h2 id="usage-title">Usage</h2>
        <nav class="segments" aria-label="Range of usage">
          {RANGES.map(([value, text]) => (
            <a
              key={value}
              href={createFragment(["accounts", account], { days: value })}
              aria-current={value === days ? "true" : undefined}
            >
              {text}
            </a>
          ))}
        </nav>
      </div>
      <Reading read={byDay}>
        {({ usage }) => (
          <UsageOfDays
            usage={usage}
            label={label}
            renderGroups={(by) => <UsageGroups path={path} by={by} />}
          />
        )}
      </Reading>
    </section>
  );
}

function UsageGroups({ path, by }: Readonly<{ path: string; by: "endpoint" | "key" }>) {
  const read = useAdminRead<AccountDetails>(`${path}&by=${by}`);
  return <Reading read={read}>{({ usage }) => <UsageTable by={by} usage={usage} />}</Reading>;
}
