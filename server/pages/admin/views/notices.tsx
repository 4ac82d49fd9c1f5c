/** The notices about low balances, and how their delivery goes. */
import { useState } from "preact/hooks";
import { NOTICE_STATES } from "../../../stored-names.ts";
import { formatExact } from "../../format.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createAccountFragment, createFragment, replaceFragment } from "../address.ts";
import { sendAdmin } from "../api.ts";
import { Choice, FilterForm } from "../filters.tsx";
import { FormDialog, Message } from "../forms.tsx";
import { formatNumberOf, MorePages, Reading } from "../parts.tsx";
import { useAdminPages } from "../reads.ts";
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

function createColumns(resend: (notice: AdminNotice) => void): readonly Column<AdminNotice>[] {
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
          <button
            type="button"
            aria-label={`Send again the notice about ${notice.account}`}
            onClick={() => resend(notice)}
          >
            Send again
          </button>
        ),
    },
    { label: "When", render: ({ at }) => <Instant value={at} /> },
    {
      label: "Balance",
      isNumeric: true,
      render: ({ balance, threshold }) => `${formatExact(balance)} < ${formatExact(threshold)}`,
    },
    { label: "Tries", isNumeric: true, render: ({ attempts }) => attempts },
    {
      label: "Last failure",
      render: ({ failure }) => (failure === null ? "none" : <Text value={failure} />),
    },
  ];
}

export function Notices({ query }: { readonly query: URLSearchParams }) {
  const [account, state] = [query.get("account") ?? "", query.get("state") ?? ""];
  const filter = new URLSearchParams(Object.entries({ account, state }).filter(([, text]) => text));
  const { pages, readMore } = useAdminPages<NoticePage>("notices", filter);
  const [resent, setResent] = useState<AdminNotice>();
  const [message, setMessage] = useState<string>();
  const show = (changes: Readonly<Record<string, string>>) =>
    replaceFragment(createFragment("notices", undefined, { account, state, ...changes }));
  return (
    <>
      <h1>Notices</h1>
      <p>
        When a balance falls below what is low for its account, the service tells the receiver at{" "}
        <code>WEBHOOK_URL</code>. A notice is deleted 30 days after it was delivered or given up.
      </p>
      <FilterForm label="Account" value={account} onFilter={(text) => show({ account: text })}>
        <Choice
          label="State"
          value={state}
          options={NOTICE_STATES}
          onChoose={(text) => show({ state: text })}
        />
        {filter.size > 0 && <a href="#notices">Show everything</a>}
      </FilterForm>
      <Message text={message} />
      <Reading read={pages}>
        {(all) => {
          const notices = all.flatMap((page) => page.notices);
          return notices.length === 0 ? (
            <Empty>
              {filter.size === 0
                ? "There is no notice. The first one comes when the balance of an account falls below what is low for it."
                : "No such notice."}
            </Empty>
          ) : (
            <Table
              caption={`${readMore === undefined ? "" : "The last "}${formatNumberOf(notices.length, "notice")}`}
              columns={createColumns(setResent)}
              items={notices}
              getKey={({ id }) => id}
            />
          );
        }}
      </Reading>
      <MorePages readMore={readMore} />
      {resent !== undefined && (
        <FormDialog
          title="Send this notice again?"
          submitLabel="Send again"
          onSubmit={async () => {
            await sendAdmin("POST", `notices/${resent.id}/resend`);
            return "The notice is sent now: read the list again to see how that went.";
          }}
          onDone={(text) => {
            setMessage(text);
            pages.reload();
          }}
          onClose={() => setResent(undefined)}
        >
          <p>
            It says that the balance of <Text value={resent.account} /> fell to{" "}
            {formatExact(resent.balance)}. If the receiver had it already, it has the same id.
          </p>
        </FormDialog>
      )}
    </>
  );
}
