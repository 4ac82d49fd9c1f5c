/** The API keys of an account. A key is shown once, when it is created. */
import { useState } from "preact/hooks";
import { Instant, Text } from "../parts/figures.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { sendAdmin, type AdminKey } from "./api.ts";
import { Field, FieldForm, Message } from "./parts.tsx";
import { useAdminRead, useChanges } from "./reads.ts";

export function Keys({ account }: { readonly account: string }) {
  const keys = useAdminRead<readonly AdminKey[]>(`keys?account=${encodeURIComponent(account)}`);
  const { message, change } = useChanges(() => keys.reload());
  const [created, setCreated] = useState<string>();
  const create = async (path: string, body: object): Promise<boolean> => {
    const result = await change(
      () => sendAdmin<{ id: number; key: string }>("POST", path, body),
      ({ id }) => `Key ${id} is created`,
    );
    setCreated(result?.key);
    return result !== undefined;
  };
  const columns: Column<AdminKey>[] = [
    { label: "Key", render: ({ id, begins_with }) => `${id}: ${begins_with}…` },
    { label: "Label", render: ({ label }) => <Text value={label} /> },
    { label: "Scopes", render: ({ scopes }) => scopes.join(", ") },
    { label: "Created", render: ({ created_at }) => <Instant value={created_at} /> },
    { label: "Expires", render: ({ expires_at }) => <Instant value={expires_at} /> },
    {
      label: "Change",
      render: ({ id, revoked_at }) =>
        revoked_at !== null ? (
          <>
            revoked <Instant value={revoked_at} />
          </>
        ) : (
          <>
            <button type="button" onClick={() => void create(`keys/${id}/rotate`, {})}>
              Rotate
            </button>{" "}
            <button
              type="button"
              onClick={() =>
                void change(
                  () => sendAdmin("DELETE", "keys", { id }),
                  () => `Key ${id} is revoked`,
                )
              }
            >
              Revoke
            </button>
          </>
        ),
    },
  ];
  return (
    <section aria-labelledby="keys">
      <h3 id="keys">
        Keys of <Text value={account} />
      </h3>
      <FieldForm
        label="Create a key"
        onSubmit={({ label, expires }) => create("keys", { account, label, expires })}
      >
        <Field name="label" label="Label" />
        <Field name="expires" label="Expires (90d, or a date)" />
      </FieldForm>
      <Message message={message} />
      {created !== undefined && <NewKey value={created} />}
      <Reading read={keys}>
        {(all) =>
          all.length === 0 ? (
            <Empty>This account has no key yet.</Empty>
          ) : (
            <Table
              caption="A rotated key stays valid for a day, so that its users can change it"
              columns={columns}
              items={all}
              getKey={({ id }) => String(id)}
            />
          )
        }
      </Reading>
    </section>
  );
}

function NewKey({ value }: { readonly value: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <p class="row">
      <code class="secret">{value}</code>
      <button
        type="button"
        onClick={() => void navigator.clipboard.writeText(value).then(() => setCopied(true))}
      >
        {isCopied ? "Copied" : "Copy"}
      </button>
      <strong>The key is not shown again.</strong>
    </p>
  );
}
