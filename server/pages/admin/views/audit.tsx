/** The changes by administrators, newest first, with filters by administrator and by action. */
import { AUDIT_ACTIONS } from "../../../stored-names.ts";
import { Below, Text } from "../../parts/figures.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Badge } from "../../parts/states.tsx";
import type { Column } from "../../parts/table.tsx";
import { createFragment } from "../../router.ts";
import type { Resource } from "../api.ts";
import { FilteredList } from "../filtered-list.tsx";

type AuditPage = Resource<"AuditPage">;
type Entry = AuditPage["entries"][number];

const ACCOUNT_ACTIONS: ReadonlySet<string> = new Set([
  "accounts create",
  "accounts set",
  "credits grant",
  "keys create",
]);

const COLUMNS: readonly Column<Entry>[] = [
  { label: "When", as: "instant", field: "at" },
  { label: "What", render: ({ action }) => <span class="nowrap">{action}</span> },
  {
    label: "Target",
    render: ({ action, target }) =>
      target !== null && ACCOUNT_ACTIONS.has(action) ? (
        <a href={createFragment(["accounts", target])}>
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
        <a href={createFragment(["audit"], { actor })}>
          <Text value={actor} />
        </a>
        <Below value={origin} />
      </>
    ),
  },
  {
    label: "Details",
    getValue: ({ details }) =>
      Object.entries(details ?? {})
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`)
        .join(", "),
  },
  {
    label: "Outcome",
    render: ({ outcome }) => (
      <Badge
        kind={outcome === "done" ? "good" : outcome === null ? "plain" : "bad"}
        word={outcome ?? "not known"}
      />
    ),
  },
];

export const Audit = ({ query }: { readonly query: URLSearchParams }) => (
  <>
    <PageHead
      title="Audit"
      below={
        <p class="muted">
          Every change by an administrator, with its outcome. The command <code>tokens list</code>{" "}
          shows who has a token: no token may see or make others.
        </p>
      }
    />
    <FilteredList
      part="audit"
      query={query}
      text={{ name: "actor", label: "Who" }}
      choice={{ name: "action", label: "What", options: AUDIT_ACTIONS }}
      getItems={({ entries }: AuditPage) => entries}
      createColumns={() => COLUMNS}
      getKey={({ id }) => String(id)}
      noun="change"
      empty="Nothing was changed yet."
    />
  </>
);
