/** The API keys of an account. A key is shown once, when it is created. */
import { useState } from "preact/hooks";
import { Instant } from "../../parts/figures.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { KeyName } from "../../parts/usage.tsx";
import { Message } from "../forms.tsx";
import { CopyButton, Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminKey, CreatedKey } from "../resources.ts";
import { CreateDialog, RevokeDialog, RotateDialog } from "./key-dialogs.tsx";

/** What is asked for in front of the page. */
type Asked =
  | { readonly about: "create" }
  | { readonly about: "rotate" | "revoke"; readonly key: AdminKey };

const isEnded = ({ revoked_at, expires_at }: AdminKey): boolean =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now());

export function Keys({ account }: { readonly account: string }) {
  const keys = useAdminRead<readonly AdminKey[]>(`keys?account=${encodeURIComponent(account)}`);
  const [created, setCreated] = useState<CreatedKey>();
  const [asked, setAsked] = useState<Asked>();
  const [message, setMessage] = useState<string>();
  const [hasEnded, setHasEnded] = useState(false);
  const dialog = {
    onClose: () => setAsked(undefined),
    onDone: (text: string) => {
      setMessage(text);
      keys.reload();
    },
  };
  return (
    <section aria-labelledby="keys-title" tabIndex={-1}>
      <h2 id="keys-title">API keys</h2>
      <button type="button" onClick={() => setAsked({ about: "create" })}>
        Create key
      </button>
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
      {asked?.about === "create" && (
        <CreateDialog account={account} onCreated={setCreated} {...dialog} />
      )}
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
    { label: "Key", render: ({ begins_with, label }) => <KeyName {...{ begins_with, label }} /> },
    { label: "State", render: (key) => <KeyState {...key} /> },
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
    { label: "Scopes", render: ({ scopes }) => scopes.join(", ") },
    {
      label: "Created",
      render: ({ created_at }) => <Instant value={created_at} hasTime={false} />,
    },
    { label: "Number", isNumeric: true, render: ({ id }) => id },
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
        <button type="button" onClick={onClose}>
          Hide it
        </button>
      </div>
    </div>
  );
}
