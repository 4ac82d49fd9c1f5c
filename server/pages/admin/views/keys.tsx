/** The API keys of an account. A key is shown once, when it is created. */
import { useEffect, useRef, useState } from "preact/hooks";
import { KEY_SCOPES } from "../../../ports/admission.ts";
import { formatLocal } from "../../format.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { sendAdmin } from "../api.ts";
import { Field, FieldForm, FormDialog, Message, type Submit } from "../forms.tsx";
import { Badge, CopyButton, Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminKey, CreatedKey } from "../resources.ts";

const SCOPE_LABELS: Readonly<Record<(typeof KEY_SCOPES)[number], string>> = {
  read: "read data",
  creators: "change the monitoring list",
};

/** How long a replaced key stays valid. */
const OVERLAPS = [
  ["0", "at once"],
  ["1h", "in an hour"],
  ["24h", "in a day"],
  ["7d", "in a week"],
  ["30d", "in 30 days"],
] as const;

/** What is asked for about a key in front of the page. */
interface Asked {
  readonly about: "rotate" | "revoke";
  readonly key: AdminKey;
}

const describeKey = ({ id, begins_with, label }: AdminKey): string =>
  `${begins_with}… (${label === null ? "" : `${label}, `}number ${id})`;

const isEnded = ({ revoked_at, expires_at }: AdminKey): boolean =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now());

export function Keys({ account }: { readonly account: string }) {
  const keys = useAdminRead<readonly AdminKey[]>(`keys?account=${encodeURIComponent(account)}`);
  const [created, setCreated] = useState<CreatedKey>();
  const [asked, setAsked] = useState<Asked>();
  const [message, setMessage] = useState<string>();
  const [hasEnded, setHasEnded] = useState(false);
  const create: Submit = async ({ label, expires, scopes }) => {
    const body = { account, label, expires, scopes: scopes?.split(",") ?? [] };
    setCreated(await sendAdmin<CreatedKey>("POST", "keys", body));
    keys.reload();
    return "";
  };
  const dialog = {
    onClose: () => setAsked(undefined),
    onDone: (text: string) => {
      setMessage(text);
      keys.reload();
    },
  };
  return (
    <section aria-labelledby="keys-title">
      <h2 id="keys-title">API keys</h2>
      {created !== undefined && (
        <NewKey key={created.id} created={created} onClose={() => setCreated(undefined)} />
      )}
      <Message text={message} />
      <Reading read={keys}>
        {(all) => (
          <>
            {all.length === 0 ? (
              <Empty>This account has no key yet, so nobody can use its credits.</Empty>
            ) : (
              <Table
                caption={describeCount(all)}
                columns={createColumns(setAsked)}
                items={hasEnded ? all : all.filter((key) => !isEnded(key))}
                getKey={({ id }) => String(id)}
              />
            )}
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
      <h3>Create a key</h3>
      <CreateForm onSubmit={create} />
      {asked?.about === "revoke" && <RevokeDialog apiKey={asked.key} {...dialog} />}
      {asked?.about === "rotate" && (
        <RotateDialog apiKey={asked.key} onCreated={setCreated} {...dialog} />
      )}
    </section>
  );
}

function describeCount(all: readonly AdminKey[]): string {
  const ended = all.filter(isEnded).length;
  return `${all.length - ended} valid${ended === 0 ? "" : `, ${ended} revoked or expired`}`;
}

function CreateForm({ onSubmit }: { readonly onSubmit: Submit }) {
  return (
    <FieldForm label="Create a key" submitLabel="Create key" onSubmit={onSubmit}>
      <Field name="label" label="Label" hint="Who or what uses it" size={20} />
      <Field name="expires" label="Expires" hint="90d, 8w or 2027-01-31" size={12} />
      <fieldset class="field">
        <legend>It may</legend>
        {KEY_SCOPES.map((scope) => (
          <label key={scope} class="control">
            <input type="checkbox" name="scopes" value={scope} defaultChecked />
            {SCOPE_LABELS[scope]}
          </label>
        ))}
      </fieldset>
    </FieldForm>
  );
}

/** The state of a key in a word. */
function KeyState({ revoked_at, expires_at, replaced_by }: AdminKey) {
  const replaced = replaced_by === null ? "" : `, replaced by number ${replaced_by}`;
  if (revoked_at !== null) {
    return (
      <>
        <Badge kind="plain">revoked</Badge> <Instant value={revoked_at} hasTime={false} />
        {replaced}
      </>
    );
  }
  if (expires_at === null) return <Badge kind="good">valid</Badge>;
  const hasExpired = Date.parse(expires_at) <= Date.now();
  return (
    <>
      <Badge kind={hasExpired ? "plain" : "good"}>{hasExpired ? "expired" : "valid until"}</Badge>{" "}
      <Instant value={expires_at} />
      {replaced}
    </>
  );
}

function createColumns(ask: (asked: Asked) => void): readonly Column<AdminKey>[] {
  return [
    { label: "Key", render: ({ begins_with }) => <code>{begins_with}…</code> },
    { label: "Label", render: ({ label }) => <Text value={label} /> },
    { label: "State", render: (key) => <KeyState {...key} /> },
    { label: "Scopes", render: ({ scopes }) => scopes.join(", ") },
    {
      label: "Created",
      render: ({ created_at }) => <Instant value={created_at} hasTime={false} />,
    },
    { label: "Number", isNumeric: true, render: ({ id }) => id },
    {
      label: "Change",
      render: (key) =>
        !isEnded(key) && (
          <div class="buttons">
            {key.replaced_by === null && (
              <button
                type="button"
                aria-label={`Rotate key ${key.begins_with}`}
                onClick={() => ask({ about: "rotate", key })}
              >
                Rotate
              </button>
            )}
            <button
              type="button"
              aria-label={`Revoke key ${key.begins_with}`}
              onClick={() => ask({ about: "revoke", key })}
            >
              Revoke
            </button>
          </div>
        ),
    },
  ];
}

interface KeyDialogProperties {
  readonly apiKey: AdminKey;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

function RevokeDialog({ apiKey, ...dialog }: KeyDialogProperties) {
  return (
    <FormDialog
      title="Revoke this key?"
      submitLabel="Revoke key"
      isDangerous
      onSubmit={async () => {
        await sendAdmin("DELETE", "keys", { id: apiKey.id });
        return `Key ${describeKey(apiKey)} is revoked.`;
      }}
      {...dialog}
    >
      <p>
        <Text value={describeKey(apiKey)} />
      </p>
      <p>
        Requests with it are refused from now on. That cannot be undone. If it is still in use,
        rotate it instead: then both keys work for a while.
      </p>
    </FormDialog>
  );
}

function RotateDialog({
  apiKey,
  onCreated,
  ...dialog
}: KeyDialogProperties & { readonly onCreated: (created: CreatedKey) => void }) {
  return (
    <FormDialog
      title="Rotate this key"
      submitLabel="Rotate key"
      onSubmit={async ({ overlap }) => {
        const rotated = await sendAdmin<CreatedKey & { old_expires_at: string }>(
          "POST",
          `keys/${apiKey.id}/rotate`,
          { overlap },
        );
        onCreated(rotated);
        return `The old key is valid until ${formatLocal(rotated.old_expires_at)}.`;
      }}
      {...dialog}
    >
      <p>
        <Text value={describeKey(apiKey)} />
      </p>
      <p>There will be a new key with the same label and scopes, which is shown once.</p>
      <label class="field">
        <span>The old key ends</span>
        <select name="overlap">
          {OVERLAPS.map(([overlap, label]) => (
            <option key={overlap} value={overlap} selected={overlap === "24h"}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}

function NewKey({
  created: { id, key },
  onClose,
}: {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}) {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <div ref={panel} class="new-key" role="group" aria-label="The new key" tabIndex={-1}>
      <p>
        <strong>Copy key number {id} now: it is not shown again.</strong>
      </p>
      <p>
        <code class="secret">{key}</code>
      </p>
      <div class="row">
        <CopyButton text={key} label="Copy key" />
        <button type="button" onClick={onClose}>
          Hide it
        </button>
      </div>
    </div>
  );
}
