/** All accounts: their balances, the low ones, grants, and the way to each account. */
import { useState } from "preact/hooks";
import { INTEGER_MAX } from "../../../../core/limits.ts";
import { formatExact } from "../../format.ts";
import { Figures, Instant, Text } from "../../parts/figures.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createAccountFragment, createFragment, replaceFragment } from "../address.ts";
import { sendAdmin } from "../api.ts";
import { Field, FormDialog, Message, parseCount } from "../forms.tsx";
import { formatNumberOf, Reading, useRowsMax } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import { isLow, type AdminAccount, type AdminStatus } from "../resources.ts";
import { GrantDialog, LowBalanceDialog } from "./credits.tsx";

/** What is asked for in front of the page. */
type Asked =
  | { readonly about: "creation" }
  | { readonly about: "grant" | "low balance"; readonly account: AdminAccount };

/** Formats a sum of all accounts, which is `null` beyond the largest exact number. */
const formatSum = (sum: number | null): string =>
  sum === null ? `over ${formatExact(INTEGER_MAX)}` : formatExact(sum);

const subtract = (sum: number | null, other: number | null): number | null =>
  sum === null || other === null ? null : sum - other;

export function Accounts({ query }: { readonly query: URLSearchParams }) {
  const accounts = useAdminRead<readonly AdminAccount[]>("accounts");
  const status = useAdminRead<AdminStatus>("status");
  const [asked, setAsked] = useState<Asked>();
  const [message, setMessage] = useState<string>();
  const reload = () => {
    accounts.reload();
    status.reload();
  };
  const dialog = {
    onClose: () => setAsked(undefined),
    onDone: (text: string) => {
      setMessage(text);
      reload();
    },
  };
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
      <button type="button" class="primary" onClick={() => setAsked({ about: "creation" })}>
        Create account
      </button>
      <Message text={message} />
      <Reading read={accounts}>
        {(all) => <AccountList all={all} query={query} ask={setAsked} />}
      </Reading>
      {asked?.about === "creation" && <CreateDialog {...dialog} />}
      {asked?.about === "grant" && <GrantDialog account={asked.account} {...dialog} />}
      {asked?.about === "low balance" && <LowBalanceDialog account={asked.account} {...dialog} />}
    </>
  );
}

function CreateDialog(dialog: {
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}) {
  return (
    <FormDialog
      title="Create an account"
      submitLabel="Create account"
      onSubmit={async ({ name = "", credits }) => {
        const amount = credits === undefined ? undefined : parseCount("Credits", credits);
        await sendAdmin("POST", "accounts", { name, credits: amount });
        location.assign(createAccountFragment(name));
        return `Account ${name} is created.`;
      }}
      {...dialog}
    >
      <Field name="name" label="Name" isRequired size={32} />
      <Field name="credits" label="Credits to begin with" isNumber size={12} />
    </FormDialog>
  );
}

function AccountList({
  all,
  query,
  ask,
}: {
  readonly all: readonly AdminAccount[];
  readonly query: URLSearchParams;
  readonly ask: (asked: Asked) => void;
}) {
  const [search, setSearch] = useState("");
  const isLowFirst = query.get("first") === "low";
  const found = all.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const lowCount = all.filter(isLow).length;
  const ordered = isLowFirst
    ? found.toSorted((a, b) => Number(isLow(b)) - Number(isLow(a)) || a.balance - b.balance)
    : found;
  const { rowsMax, moreRows } = useRowsMax(ordered.length);
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
      {ordered.length === 0 ? (
        <Empty>No account has this in its name.</Empty>
      ) : (
        <Table
          caption={
            ordered.length === all.length
              ? formatNumberOf(all.length, "account")
              : `${ordered.length} of ${formatNumberOf(all.length, "account")}`
          }
          columns={createColumns(ask)}
          items={ordered}
          rowsMax={rowsMax}
          getKey={({ name }) => name}
        />
      )}
      {moreRows}
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

/** When the balance of an account is low; a button that changes it. */
function LowBelow({
  account,
  ask,
}: {
  readonly account: AdminAccount;
  readonly ask: (asked: Asked) => void;
}) {
  const { name, low_balance } = account;
  const text = low_balance === null ? "Set" : formatExact(low_balance);
  return (
    <button
      type="button"
      class="plain"
      aria-label={`${text}: when the balance of ${name} is low`}
      onClick={() => ask({ about: "low balance", account })}
    >
      {text}
    </button>
  );
}

function createColumns(ask: (asked: Asked) => void): readonly Column<AdminAccount>[] {
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
      isNumeric: true,
      getValue: ({ balance }) => balance,
      render: (account) => <Balance account={account} />,
    },
    {
      label: "Low below",
      isNumeric: true,
      isWide: true,
      getValue: ({ low_balance }) => low_balance,
      render: (account) => <LowBelow account={account} ask={ask} />,
    },
    {
      label: "Used, 30 days",
      isNumeric: true,
      isWide: true,
      getValue: ({ used_30_days }) => used_30_days,
      render: ({ used_30_days }) => formatExact(used_30_days),
    },
    {
      label: "Credits",
      render: (account) => (
        <button
          type="button"
          aria-label={`Grant credits to ${account.name}`}
          onClick={() => ask({ about: "grant", account })}
        >
          Grant
        </button>
      ),
    },
    {
      label: "Created",
      isWide: true,
      getValue: ({ created_at }) => created_at,
      render: ({ created_at }) => <Instant value={created_at} hasTime={false} />,
    },
  ];
}
