/** The changes by administrators, newest first. */
import { AUDIT_ACTIONS } from "../../../stored-names.ts";
import { Below, Text } from "../../parts/figures.tsx";
import { Badge } from "../../parts/states.tsx";
import type { Column } from "../../parts/table.tsx";
import { createAccountFragment, createFragment } from "../address.ts";
import { FilteredTable, FilterForm } from "../filtered-list.tsx";
import { useFilteredPages } from "../reads.ts";
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
  { label: "When", as: "instant", getValue: ({ at }) => at },
  { label: "What", render: ({ action }) => <span class="nowrap">{action}</span> },
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
  {
    label: "Who",
    render: ({ actor, origin }) => (
      <>
        <a href={createFragment("audit", undefined, { actor })}>
          <Text value={actor} />
        </a>
        <Below value={origin} />
      </>
    ),
  },
  { label: "Details", getValue: ({ details }) => formatDetails(details) },
  {
    label: "Outcome",
    render: ({ outcome }) => (
      <Badge kind={outcome === "done" ? "good" : outcome === null ? "plain" : "bad"}>
        {outcome ?? "not known"}
      </Badge>
    ),
  },
];

function formatDetails(details: AdminAuditEntry["details"]): string {
  return Object.entries(details ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`)
    .join(", ");
}

export function Audit({ query }: { readonly query: URLSearchParams }) {
  const list = useFilteredPages<AuditPage>("audit", query, ["actor", "action"]);
  return (
    <>
      <h1>Audit</h1>
      <p>
        Every change by an administrator, with its outcome. The command <code>tokens list</code>{" "}
        shows who has a token: no token may see or make others.
      </p>
      <FilterForm
        list={list}
        text={{ name: "actor", label: "Who" }}
        choice={{ name: "action", label: "What", options: AUDIT_ACTIONS }}
      />
      <FilteredTable
        list={list}
        noun="change"
        getItems={({ entries }) => entries}
        columns={COLUMNS}
        getKey={({ id }) => String(id)}
        empty="Nothing was changed yet."
      />
    </>
  );
}
