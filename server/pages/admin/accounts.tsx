/** The accounts: balances, grants, and the way to each account's keys. */
import { useState } from "preact/hooks";
import { Count, Instant, Text } from "../parts/figures.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { sendAdmin, type AdminAccount } from "./api.ts";
import { Keys } from "./keys.tsx";
import { Field, FieldForm, Message, parseCount } from "./parts.tsx";
import { useAdminRead, useChanges } from "./reads.ts";

/** A balance below this is shown first: the account may soon be refused. */
const LOW_BALANCE = 1000;

export function Accounts() {
  const accounts = useAdminRead<readonly AdminAccount[]>("accounts");
  const { message, change } = useChanges(() => accounts.reload());
  const [opened, setOpened] = useState<string>();
  const columns: Column<AdminAccount>[] = [
    {
      label: "Account",
      getValue: ({ name }) => name,
      render: ({ name }) => (
        <button type="button" class="plain" onClick={() => setOpened(name)}>
          <Text value={name} />
        </button>
      ),
    },
    {
      label: "Balance",
      isNumeric: true,
      getValue: ({ balance }) => balance,
      render: ({ balance }) => (
        <span class={balance < LOW_BALANCE ? "loss" : ""}>
          <Count value={balance} />
        </span>
      ),
    },
    ...(["granted", "debited", "refunded"] as const).map((field) => ({
      label: field.charAt(0).toUpperCase() + field.slice(1),
      isNumeric: true,
      getValue: (account: AdminAccount) => account[field],
      render: (account: AdminAccount) => <Count value={account[field]} />,
    })),
    {
      label: "Created",
      getValue: ({ created_at }) => created_at,
      render: ({ created_at }) => <Instant value={created_at} />,
    },
  ];
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">Accounts</h2>
      <FieldForm
        label="Create an account"
        onSubmit={async ({ name, credits }) => {
          const body = { name, credits: parseCount(credits) };
          const created = await change(
            () => sendAdmin<AdminAccount>("POST", "accounts", body),
            (account) => `Account ${account.name} has ${account.balance} credits`,
          );
          return created !== undefined;
        }}
      >
        <Field name="name" label="Name" isRequired />
        <Field name="credits" label="Credits" size={8} />
      </FieldForm>
      <FieldForm
        label="Grant credits"
        onSubmit={async ({ account, amount, reference, reason }) => {
          const body = { account, amount: parseCount(amount), reference, reason };
          const granted = await change(
            () => sendAdmin<{ is_new: boolean; balance: number }>("POST", "grants", body),
            ({ is_new, balance }) =>
              is_new
                ? `${account} has ${balance} credits now`
                : `The reference ${reference ?? ""} granted before; ${account} has ${balance} credits`,
          );
          return granted !== undefined;
        }}
      >
        <Field name="account" label="Account" isRequired />
        <Field name="amount" label="Amount" isRequired size={8} />
        <Field name="reference" label="Reference" />
        <Field name="reason" label="Reason" />
      </FieldForm>
      <Message message={message} />
      <Reading read={accounts}>
        {(all) =>
          all.length === 0 ? (
            <Empty>There is no account yet. Create one, then a key of it.</Empty>
          ) : (
            <Table
              caption={`Accounts: ${all.length}; a balance below ${LOW_BALANCE} is red`}
              columns={columns}
              items={all}
              getKey={({ name }) => name}
            />
          )
        }
      </Reading>
      {opened !== undefined && <Keys key={opened} account={opened} />}
    </section>
  );
}
