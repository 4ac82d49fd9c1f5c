/** The API keys of an account. A key is shown once, when it is created. */
import { useState } from "preact/hooks";
import { Instant } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Badge } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { KeyName } from "../../parts/usage.tsx";
import { useDialog, type OpenDialog } from "../forms.tsx";
import { CopyButton, Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminKey, CreatedKey } from "../resources.ts";
import { createKeyForm, createRevocationForm, createRotationForm } from "./key-forms.tsx";

const isEnded = ({ revoked_at, expires_at }: Pick<AdminKey, "revoked_at" | "expires_at">) =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now());

export function Keys({ account }: { readonly account: string }) {
  const keys = useAdminRead<readonly AdminKey[]>(`keys?account=${encodeURIComponent(account)}`);
  const [created, setCreated] = useState<CreatedKey>();
  const [hasEnded, setHasEnded] = useState(false);
  const { open, dialog, message } = useDialog(keys.reload);
  return (
    <section aria-labelledby="keys-title" tabIndex={-1}>
      <h2 id="keys-title">API keys</h2>
      <Button label="Create key" onClick={() => open(createKeyForm(account, setCreated))} />
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

/** The state of a key in a word, and since or until when. */
function KeyState({ revoked_at, expires_at, replaced_by }: AdminKey) {
  if (revoked_at === null && expires_at === null) return <Badge kind="good">valid</Badge>;
  const hasEnded = isEnded({ revoked_at, expires_at });
  const word = revoked_at !== null ? "revoked" : hasEnded ? "expired" : "valid until";
  return (
    <>
      <Badge kind={hasEnded ? "plain" : "good"}>{word}</Badge>{" "}
      <Instant value={revoked_at ?? expires_at} hasTime={revoked_at === null} />
      {replaced_by !== null && `, replaced by number ${replaced_by}`}
    </>
  );
}

function createColumns(
  open: OpenDialog,
  showKey: (created: CreatedKey) => void,
): readonly Column<AdminKey>[] {
  return [
    { label: "Key", render: ({ begins_with, label }) => <KeyName {...{ begins_with, label }} /> },
    { label: "State", render: (key) => <KeyState {...key} /> },
    {
      label: "Change",
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
    { label: "Scopes", render: ({ scopes }) => scopes.join(", ") },
    { label: "Created", as: "date", getValue: ({ created_at }) => created_at },
    { label: "Number", as: "exact", render: ({ id }) => id },
  ];
}

function NewKey({
  created: { id, key },
  onClose,
}: {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}) {
  return (
    <div class="new-key" role="alert">
      <p>
        <strong>Copy key number {id} now: it is not shown again.</strong>
      </p>
      <p>
        <code class="secret">{key}</code>
      </p>
      <div class="row">
        <CopyButton text={key} label="Copy key" />
        <Button label="Hide it" onClick={onClose} />
      </div>
    </div>
  );
}
