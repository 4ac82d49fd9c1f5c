/** All accounts: their balances, the low ones, grants, and links to each account. */
import { useState } from "preact/hooks";
import { INTEGER_MAX } from "../../../../core/limits.ts";
import { formatExact } from "../../format.ts";
import { Figures, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createAccountFragment, createFragment, replaceFragment } from "../address.ts";
import { sendAdmin } from "../api.ts";
import { Field, parseCount, useDialog, type DialogForm, type OpenDialog } from "../forms.tsx";
import { formatNumberOf, Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import { isLow, type AdminAccount, type AdminStatus } from "../resources.ts";
import { createGrantForm, createLowBalanceForm } from "./credits.tsx";

/** Formats a sum of all accounts, which is `null` beyond the largest exact number. */
const formatSum = (sum: number | null): string =>
  sum === null ? `over ${formatExact(INTEGER_MAX)}` : formatExact(sum);

const subtract = (sum: number | null, other: number | null): number | null =>
  sum === null || other === null ? null : sum - other;

export function Accounts({ query }: { readonly query: URLSearchParams }) {
  const accounts = useAdminRead<readonly AdminAccount[]>("accounts");
  const status = useAdminRead<AdminStatus>("status");
  const { open, dialog, message } = useDialog(() => {
    accounts.reload();
    status.reload();
  });
  return (
    <>
      <h1>Accounts</h1>
      <Reading read={status}>
        {({ accounts: count, keys, credits }) => (
          <Figures
            items={[
              ["Accounts", formatExact(count)],
              ["Valid keys", formatExact(keys.valid)],
              ["Credits granted", formatSum(credits.granted)],
              ["Credits used", formatSum(subtract(credits.debited, credits.refunded))],
              ["Credits left", formatSum(credits.balance)],
            ]}
          />
        )}
      </Reading>
      <Button label="Create account" look="primary" onClick={() => open(CREATION)} />
      {message}
      <Reading read={accounts}>
        {(all) => <AccountList all={all} query={query} open={open} />}
      </Reading>
      {dialog}
    </>
  );
}

const CREATION: DialogForm = {
  title: "Create an account",
  submitLabel: "Create account",
  content: (
    <>
      <Field name="name" label="Name" isRequired size={32} />
      <Field name="credits" label="Credits to begin with" isNumber size={12} />
    </>
  ),
  async onSubmit({ name = "", credits }) {
    const amount = credits === undefined ? undefined : parseCount("Credits", credits);
    await sendAdmin("POST", "accounts", { name, credits: amount });
    location.assign(createAccountFragment(name));
    return `Account ${name} is created.`;
  },
};

function AccountList(properties: {
  readonly all: readonly AdminAccount[];
  readonly query: URLSearchParams;
  readonly open: OpenDialog;
}) {
  const { all, query, open } = properties;
  const [search, setSearch] = useState("");
  const isLowFirst = query.get("first") === "low";
  const found = all.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const lowCount = all.filter(isLow).length;
  const ordered = isLowFirst
    ? found.toSorted((a, b) => Number(isLow(b)) - Number(isLow(a)) || a.balance - b.balance)
    : found;
  if (all.length === 0) {
    return <Empty>There is no account yet. Create one above, then give it a key.</Empty>;
  }
  return (
    <>
      <div class="row">
        <label class="control">
          Search
          <input
            type="search"
            size={20}
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <label class="control">
          <input
            type="checkbox"
            checked={isLowFirst}
            onChange={({ currentTarget: { checked } }) =>
              replaceFragment(
                createFragment("accounts", undefined, { first: checked ? "low" : "" }),
              )
            }
          />
          Low balances first ({lowCount})
        </label>
      </div>
      <Table
        caption={
          ordered.length === all.length
            ? formatNumberOf(all.length, "account")
            : `${ordered.length} of ${formatNumberOf(all.length, "account")}`
        }
        columns={createColumns(open)}
        items={ordered}
        isCut
        getKey={({ name }) => name}
        empty="No account has this in its name."
      />
    </>
  );
}

/** The balance of an account; a low one has a word beside it. */
export function Balance({ account }: { readonly account: AdminAccount }) {
  return (
    <>
      {isLow(account) && (
        <>
          <Badge kind="bad">low</Badge>{" "}
        </>
      )}
      {formatExact(account.balance)}
    </>
  );
}

function createColumns(open: OpenDialog): readonly Column<AdminAccount>[] {
  return [
    {
      label: "Account",
      getValue: ({ name }) => name.toLowerCase(),
      render: ({ name }) => (
        <a href={createAccountFragment(name)}>
          <Text value={name} />
        </a>
      ),
    },
    {
      label: "Balance",
      as: "exact",
      getValue: ({ balance }) => balance,
      render: (account) => <Balance account={account} />,
    },
    {
      label: "Low below",
      as: "exact",
      isWide: true,
      getValue: ({ low_balance }) => low_balance,
      render: (account) => {
        const text = account.low_balance === null ? "Set" : formatExact(account.low_balance);
        return (
          <Button
            label={text}
            about={`${text}: when the balance of ${account.name} is low`}
            look="plain"
            onClick={() => open(createLowBalanceForm(account))}
          />
        );
      },
    },
    {
      label: "Used, 30 days",
      as: "exact",
      isWide: true,
      getValue: ({ used_30_days }) => used_30_days,
    },
    {
      label: "Credits",
      render: (account) => (
        <Button
          label="Grant"
          about={`Grant credits to ${account.name}`}
          onClick={() => open(createGrantForm(account))}
        />
      ),
    },
    { label: "Created", as: "date", isWide: true, getValue: ({ created_at }) => created_at },
  ];
}
