/** Lists, creates, rotates and revokes the API keys of an account. A new key is shown once. */
import { useState } from "preact/hooks";
import { KEY_SCOPES } from "../../../stored-names.ts";
import { formatLocal } from "../../format.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { NewKey, OverlapChoice } from "../../parts/new-key.tsx";
import { Badge } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { KeyName } from "../../parts/usage.tsx";
import { sendAdmin, type Resource } from "../api.ts";
import { Field, useDialog, type DialogForm, type OpenDialog } from "../forms.tsx";
import { Reading, useAdminRead } from "../reading.tsx";

type AdminKey = Resource<"AdminKeyList">[number];
type CreatedKey = Resource<"CreatedKey">;

type ShowKey = (created: CreatedKey) => void;

const isEnded = ({ revoked_at, expires_at }: Pick<AdminKey, "revoked_at" | "expires_at">) =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now());

export function Keys({ account }: { readonly account: string }) {
  const keys = useAdminRead<readonly AdminKey[]>(`keys?account=${encodeURIComponent(account)}`);
  const [created, setCreated] = useState<CreatedKey>();
  const [hasEnded, setHasEnded] = useState(false);
  const { open, dialog, message } = useDialog(keys.reload);
  return (
    <section aria-labelledby="keys-title" tabIndex={-1}>
      <div class="head">
        <h2 id="keys-title">API keys</h2>
        <Button label="Create key" onClick={() => open(createKeyForm(account, setCreated))} />
      </div>
      {created !== undefined && (
        <NewKey key={created.id} created={created} onClose={() => setCreated(undefined)} />
      )}
      {message}
      <Reading read={keys}>
        {(all) => (
          <>
            <Table
              caption={describeCount(all)}
              columns={createColumns(open, setCreated)}
              items={hasEnded ? all : all.filter((key) => !isEnded(key))}
              getKey={({ id }) => String(id)}
              isSortable={false}
              {...(all.length === 0 && {
                empty: "This account has no key yet, so nobody can use its credits.",
              })}
            />
            {all.some(isEnded) && (
              <label class="control">
                <input
                  type="checkbox"
                  checked={hasEnded}
                  onChange={({ currentTarget }) => setHasEnded(currentTarget.checked)}
                />
                Show revoked and expired keys
              </label>
            )}
          </>
        )}
      </Reading>
      {dialog}
    </section>
  );
}

function describeCount(all: readonly AdminKey[]): string {
  const ended = all.filter(isEnded).length;
  return `${all.length - ended} valid${ended === 0 ? "" : `, ${ended} revoked or expired`}`;
}

function KeyState({ revoked_at, expires_at, replaced_by }: AdminKey) {
  if (revoked_at === null && expires_at === null) return <Badge kind="good" word="valid" />;
  const hasEnded = isEnded({ revoked_at, expires_at });
  const word = revoked_at !== null ? "revoked" : hasEnded ? "expired" : "valid until";
  return (
    <>
      <Badge kind={hasEnded ? "plain" : "good"} word={word} />{" "}
      <Instant value={revoked_at ?? expires_at} hasTime={revoked_at === null} />
      {replaced_by !== null && `, replaced by number ${replaced_by}`}
    </>
  );
}

const createColumns = (open: OpenDialog, showKey: ShowKey): readonly Column<AdminKey>[] => [
  { label: "Key", render: KeyName },
  { label: "State", render: KeyState },
  { label: "Scopes", isWide: true, render: ({ scopes }) => scopes.join(", ") },
  { label: "Created", as: "date", isWide: true, field: "created_at" },
  { label: "Number", as: "exact", isWide: true, render: ({ id }) => id },
  {
    label: "Change",
    as: "action",
    render: (key) =>
      !isEnded(key) && (
        <div class="buttons">
          {key.replaced_by === null && (
            <Button
              label="Rotate"
              about={`Rotate key ${key.begins_with}`}
              onClick={() => open(createRotationForm(key, showKey))}
            />
          )}
          <Button
            label="Revoke"
            about={`Revoke key ${key.begins_with}`}
            onClick={() => open(createRevocationForm(key))}
          />
        </div>
      ),
  },
];

const SCOPE_LABELS: Readonly<Record<(typeof KEY_SCOPES)[number], string>> = {
  read: "read data",
  creators: "change the monitoring list",
  lists: "read and change saved lists",
};

const describeKey = ({ id, begins_with, label }: AdminKey): string =>
  `${begins_with}… (${label === null ? "" : `${label}, `}number ${id})`;

const createKeyForm = (account: string, showKey: ShowKey): DialogForm => ({
  title: ["Create a key of ", account],
  submitLabel: "Create key",
  content: (
    <>
      <Field name="label" label="Label" hint="Who or what uses it" size={32} />
      <Field name="expires" label="Expires" hint="Such as 90d, 8w or 2027-01-31" size={12} />
      <fieldset class="field">
        <legend>It may</legend>
        {KEY_SCOPES.map((scope) => (
          <label key={scope} class="control">
            <input type="checkbox" name="scopes" value={scope} defaultChecked />
            {SCOPE_LABELS[scope]}
          </label>
        ))}
      </fieldset>
    </>
  ),
  async onSubmit({ label, expires, scopes }) {
    const body = { account, label, expires, scopes: scopes?.split(",") ?? [] };
    showKey(await sendAdmin<CreatedKey>("POST", "keys", body));
    return "";
  },
});

const createRevocationForm = (key: AdminKey): DialogForm => ({
  title: "Revoke this key?",
  submitLabel: "Revoke key",
  isDangerous: true,
  content: (
    <>
      <p>
        <Text value={describeKey(key)} />
      </p>
      <p>
        Requests with it are refused from now on. That cannot be undone. If it is still in use,
        rotate it instead: then both keys work for a while.
      </p>
    </>
  ),
  async onSubmit() {
    await sendAdmin("DELETE", "keys", { id: key.id });
    return `Key ${describeKey(key)} is revoked.`;
  },
});

const createRotationForm = (key: AdminKey, showKey: ShowKey): DialogForm => ({
  title: "Rotate this key",
  submitLabel: "Rotate key",
  removesOpener: true,
  content: (
    <>
      <p>
        <Text value={describeKey(key)} />
      </p>
      <p>There will be a new key with the same label and scopes, which is shown once.</p>
      <label class="field">
        <span>The old key ends</span>
        <OverlapChoice />
      </label>
    </>
  ),
  async onSubmit({ overlap }) {
    const path = `keys/${key.id}/rotate`;
    const rotated = await sendAdmin<Resource<"RotatedKey">>("POST", path, { overlap });
    showKey(rotated);
    return `The old key is valid until ${formatLocal(rotated.old_expires_at)}.`;
  },
});
