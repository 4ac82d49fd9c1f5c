/** What administrators changed, newest first. */
import { useState } from "preact/hooks";
import { AUDIT_ACTIONS } from "../../../ports/administration.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createAccountFragment, createFragment, replaceFragment } from "../address.ts";
import { describeFailure, sendAdmin } from "../api.ts";
import { Message } from "../forms.tsx";
import { Badge, Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminAuditEntry } from "../resources.ts";

interface AuditPage {
  readonly entries: readonly AdminAuditEntry[];
  readonly next: string | null;
}

/** Changes whose target is an account. */
const ACCOUNT_ACTIONS: ReadonlySet<string> = new Set([
  "accounts create",
  "accounts set",
  "credits grant",
  "keys create",
]);

const COLUMNS: readonly Column<AdminAuditEntry>[] = [
  { label: "When", render: ({ at }) => <Instant value={at} /> },
  {
    label: "Who",
    render: ({ actor }) => (
      <a href={createFragment("audit", undefined, { actor })}>
        <Text value={actor} />
      </a>
    ),
  },
  { label: "What", render: ({ action }) => action },
  {
    label: "Target",
    render: ({ action, target }) =>
      target !== null && ACCOUNT_ACTIONS.has(action) ? (
        <a href={createAccountFragment(target)}>
          <Text value={target} />
        </a>
      ) : (
        <Text value={target} />
      ),
  },
  { label: "Details", render: ({ details }) => <Text value={formatDetails(details)} /> },
  {
    label: "Outcome",
    render: ({ outcome }) => (
      <Badge kind={outcome === "done" ? "good" : outcome === null ? "plain" : "bad"}>
        {outcome ?? "not known"}
      </Badge>
    ),
  },
  { label: "From", render: ({ origin }) => <Text value={origin} /> },
];

function formatDetails(details: AdminAuditEntry["details"]): string {
  return Object.entries(details ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`)
    .join(", ");
}

export function Audit({ query }: { readonly query: URLSearchParams }) {
  const [actor, action] = [query.get("actor") ?? "", query.get("action") ?? ""];
  const filter = new URLSearchParams([
    ...(actor === "" ? [] : [["actor", actor]]),
    ...(action === "" ? [] : [["action", action]]),
  ]);
  const first = useAdminRead<AuditPage>(`audit?${filter}`);
  const show = (changes: Readonly<Record<string, string>>) =>
    replaceFragment(createFragment("audit", undefined, { actor, action, ...changes }));
  return (
    <>
      <h1>Audit</h1>
      <p>
        Every change by an administrator, with its outcome. The command <code>tokens list</code>{" "}
        shows who has a token: no token may see or make others.
      </p>
      <form
        class="fields"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          const name = new FormData(event.currentTarget).get("actor");
          show({ actor: typeof name === "string" ? name.trim() : "" });
        }}
      >
        <label class="field">
          <span>What</span>
          <select
            value={action}
            onChange={({ currentTarget }) => show({ action: currentTarget.value })}
          >
            <option value="">everything</option>
            {AUDIT_ACTIONS.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Who</span>
          <input key={actor} name="actor" size={16} defaultValue={actor} autocomplete="off" />
        </label>
        <button type="submit">Filter</button>
        {filter.size > 0 && <a href="#audit">Show everything</a>}
      </form>
      <Reading read={first}>
        {(page) => <Entries key={`${filter}`} filter={filter} first={page} />}
      </Reading>
    </>
  );
}

function Entries({
  filter,
  first,
}: {
  readonly filter: URLSearchParams;
  readonly first: AuditPage;
}) {
  const [pages, setPages] = useState<readonly AuditPage[]>([first]);
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const entries = pages.flatMap((page) => page.entries);
  const next = pages.at(-1)?.next ?? null;
  const readMore = async (cursor: string) => {
    setBusy(true);
    setFailure(undefined);
    try {
      const parameters = new URLSearchParams([...filter, ["cursor", cursor]]);
      const page = await sendAdmin<AuditPage>("GET", `audit?${parameters}`);
      setPages((before) => [...before, page]);
    } catch (error) {
      setFailure(describeFailure(error));
    } finally {
      setBusy(false);
    }
  };
  if (entries.length === 0) {
    return <Empty>{filter.size === 0 ? "Nothing was changed yet." : "No such change."}</Empty>;
  }
  return (
    <>
      <Table
        caption={next === null ? `${entries.length} changes` : `The last ${entries.length} changes`}
        columns={COLUMNS}
        items={entries}
        getKey={({ id }) => String(id)}
      />
      {next !== null && (
        <p>
          <button type="button" disabled={isBusy} onClick={() => void readMore(next)}>
            {isBusy ? "Wait…" : "Show 100 more"}
          </button>
        </p>
      )}
      <Message text={failure} isFailure />
    </>
  );
}
