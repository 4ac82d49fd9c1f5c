/** What administrators changed, newest first. */
import { AUDIT_ACTIONS } from "../../../stored-names.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createAccountFragment, createFragment, replaceFragment } from "../address.ts";
import { Choice, FilterForm } from "../filters.tsx";
import { formatNumberOf, MorePages, Reading } from "../parts.tsx";
import { useAdminPages } from "../reads.ts";
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
        <small class="muted">
          <Text value={origin} />
        </small>
      </>
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
];

function formatDetails(details: AdminAuditEntry["details"]): string {
  return Object.entries(details ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`)
    .join(", ");
}

export function Audit({ query }: { readonly query: URLSearchParams }) {
  const [actor, action] = [query.get("actor") ?? "", query.get("action") ?? ""];
  const filter = new URLSearchParams(Object.entries({ actor, action }).filter(([, text]) => text));
  const { pages, readMore } = useAdminPages<AuditPage>("audit", filter);
  const show = (changes: Readonly<Record<string, string>>) =>
    replaceFragment(createFragment("audit", undefined, { actor, action, ...changes }));
  return (
    <>
      <h1>Audit</h1>
      <p>
        Every change by an administrator, with its outcome. The command <code>tokens list</code>{" "}
        shows who has a token: no token may see or make others.
      </p>
      <FilterForm label="Who" value={actor} onFilter={(text) => show({ actor: text })}>
        <Choice
          label="What"
          value={action}
          options={AUDIT_ACTIONS}
          onChoose={(text) => show({ action: text })}
        />
        {filter.size > 0 && <a href="#audit">Show everything</a>}
      </FilterForm>
      <Reading read={pages}>
        {(all) => {
          const entries = all.flatMap((page) => page.entries);
          return entries.length === 0 ? (
            <Empty>{filter.size === 0 ? "Nothing was changed yet." : "No such change."}</Empty>
          ) : (
            <Table
              caption={`${readMore === undefined ? "" : "The last "}${formatNumberOf(entries.length, "change")}`}
              columns={COLUMNS}
              items={entries}
              getKey={({ id }) => String(id)}
            />
          );
        }}
      </Reading>
      <MorePages readMore={readMore} />
    </>
  );
}
