/** All accounts: totals, search, balances; forms for new accounts, grants and low balances. */
import { useState } from "preact/hooks";
import { INTEGER_MAX } from "../../../../core/limits.ts";
import { formatExact, formatNumberOf } from "../../format.ts";
import { Figures } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createFragment } from "../../router.ts";
import { sendAdmin, type AdminAccount, type Resource } from "../api.ts";
import { Field, parseCount, useDialog, type DialogForm, type OpenDialog } from "../forms.tsx";
import { Reading, useAdminRead } from "../reading.tsx";
import { Balance, createGrantForm, createLowBalanceForm, isLow } from "./credits.tsx";

const formatSum = (sum: number | null): string =>
  sum === null ? `over ${formatExact(INTEGER_MAX)}` : formatExact(sum);

const subtract = (sum: number | null, other: number | null): number | null =>
  sum === null || other === null ? null : sum - other;

export function Accounts({ query }: { readonly query: URLSearchParams }) {
  const accounts = useAdminRead<readonly AdminAccount[]>("accounts");
  const status = useAdminRead<Resource<"ServiceStatus">>("status");
  const { open, dialog, message } = useDialog(() => {
    accounts.reload();
    status.reload();
  });
  return (
    <>
      <PageHead title="Accounts">
        <Button label="Create account" look="primary" onClick={() => open(CREATION)} />
      </PageHead>
      {message}
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
      <Reading read={accounts}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There is no account yet">Create one above, then give it a key.</Empty>
          ) : (
            <AccountList all={all} isLowFirst={query.get("first") === "low"} open={open} />
          )
        }
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
      <Field name="name" label="Name" required size={32} />
      <Field name="credits" label="Credits to begin with" inputMode="numeric" size={12} />
    </>
  ),
  async onSubmit({ name = "", credits }) {
    const amount = credits === undefined ? undefined : parseCount("Credits", credits);
    await sendAdmin("POST", "accounts", { name, credits: amount });
    location.assign(createFragment(["accounts", name]));
    return `Account ${name} is created.`;
  },
};

function AccountList({
  all,
  isLowFirst,
  open,
}: Readonly<{ all: readonly AdminAccount[]; isLowFirst: boolean; open: OpenDialog }>) {
  const [search, setSearch] = useState("");
  const found = all.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const items = isLowFirst
    ? found.toSorted((a, b) => Number(isLow(b)) - Number(isLow(a)) || a.balance - b.balance)
    : found;
  const count = formatNumberOf(all.length, "account");
  return (
    <>
      <div class="filters">
        <label>
          <span class="hidden">Search</span>
          <input
            type="search"
            size={24}
            placeholder="Find an account by name"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <label class="control">
          <input
            type="checkbox"
            checked={isLowFirst}
            onChange={({ currentTarget: { checked } }) =>
              location.replace(createFragment(["accounts"], { first: checked ? "low" : "" }))
            }
          />
          Low balances first ({all.filter(isLow).length})
        </label>
      </div>
      <Table
        caption={items.length === all.length ? count : `${items.length} of ${count}`}
        columns={createColumns(open)}
        items={items}
        isCut
        getKey={({ name }) => name}
        empty="No account has this in its name."
      />
    </>
  );
}

const createColumns = (open: OpenDialog): readonly Column<AdminAccount>[] => [
  {
    label: "Account",
    as: "name",
    field: "name",
    getHref: ({ name }) => createFragment(["accounts", name]),
  },
  {
    label: "Balance",
    as: "exact",
    field: "balance",
    render: (account) => <Balance account={account} />,
  },
  {
    label: "Low below",
    as: "exact",
    isWide: true,
    field: "low_balance",
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
  { label: "Used, 30 days", as: "exact", isWide: true, field: "used_30_days" },
  { label: "Created", as: "date", isWide: true, field: "created_at" },
  {
    label: "Credits",
    as: "action",
    render: (account) => (
      <Button
        label="Grant"
        about={`Grant credits to ${account.name}`}
        onClick={() => open(createGrantForm(account))}
      />
    ),
  },
];
