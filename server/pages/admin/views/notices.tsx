/** The notices about low balances, and how their delivery goes. */
import { NOTICE_STATES } from "../../../stored-names.ts";
import { formatExact } from "../../format.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Badge } from "../../parts/states.tsx";
import type { Column } from "../../parts/table.tsx";
import { createAccountFragment } from "../address.ts";
import { sendAdmin } from "../api.ts";
import { FilteredTable, FilterForm } from "../filtered-list.tsx";
import { useDialog, type DialogForm, type OpenDialog } from "../forms.tsx";
import { useFilteredPages } from "../reads.ts";
import type { AdminNotice } from "../resources.ts";

interface NoticePage {
  readonly notices: readonly AdminNotice[];
  readonly next: string | null;
}

const STATE_KINDS = { delivered: "good", failed: "bad", pending: "plain" } as const;

/** How the delivery of a notice goes, and when. */
function Delivery({ state, delivered_at, next_attempt }: AdminNotice) {
  return (
    <>
      <Badge kind={STATE_KINDS[state]}>{state}</Badge>{" "}
      {state === "delivered" && <Instant value={delivered_at} />}
      {state === "pending" && (
        <>
          next try <Instant value={next_attempt} />
        </>
      )}
      {state === "failed" && "given up"}
    </>
  );
}

function createColumns(open: OpenDialog): readonly Column<AdminNotice>[] {
  return [
    {
      label: "Account",
      render: ({ account }) => (
        <a href={createAccountFragment(account)}>
          <Text value={account} />
        </a>
      ),
    },
    { label: "Delivery", render: (notice) => <Delivery {...notice} /> },
    {
      label: "Change",
      render: (notice) =>
        notice.state !== "delivered" && (
          <Button
            label="Send again"
            about={`Send again the notice about ${notice.account}`}
            onClick={() => open(createResendForm(notice))}
          />
        ),
    },
    { label: "When", as: "instant", getValue: ({ at }) => at },
    {
      label: "Balance",
      as: "exact",
      render: ({ balance, threshold }) => `${formatExact(balance)} < ${formatExact(threshold)}`,
    },
    { label: "Tries", as: "exact", getValue: ({ attempts }) => attempts },
    { label: "Last failure", getValue: ({ failure }) => failure ?? "none" },
  ];
}

export function Notices({ query }: { readonly query: URLSearchParams }) {
  const list = useFilteredPages<NoticePage>("notices", query, ["account", "state"]);
  const { open, dialog, message } = useDialog(list.pages.reload);
  return (
    <>
      <h1>Notices</h1>
      <p>
        When a balance falls below what is low for its account, the service tells the receiver at{" "}
        <code>WEBHOOK_URL</code>. A notice is deleted 30 days after it was delivered or given up.
      </p>
      <FilterForm
        list={list}
        text={{ name: "account", label: "Account" }}
        choice={{ name: "state", label: "State", options: NOTICE_STATES }}
      />
      {message}
      <FilteredTable
        list={list}
        noun="notice"
        getItems={({ notices }) => notices}
        columns={createColumns(open)}
        getKey={({ id }) => id}
        empty="There is no notice. The first one comes when the balance of an account falls below what is low for it."
      />
      {dialog}
    </>
  );
}

function createResendForm({ id, account, balance }: AdminNotice): DialogForm {
  return {
    title: "Send this notice again?",
    submitLabel: "Send again",
    content: (
      <p>
        It says that the balance of <Text value={account} /> fell to {formatExact(balance)}. If the
        receiver had it already, it has the same id.
      </p>
    ),
    async onSubmit() {
      await sendAdmin("POST", `notices/${id}/resend`);
      return "The notice is sent now: read the list again to see how that went.";
    },
  };
}
