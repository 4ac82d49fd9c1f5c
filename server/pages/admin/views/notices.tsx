/** The notices about low balances, and how their delivery goes. */
import { Count, Instant, Text } from "../../parts/figures.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { createAccountFragment } from "../address.ts";
import { Badge, Reading, useShown } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminNotice } from "../resources.ts";

const STATE_LABELS = { delivered: "delivered", failed: "given up", pending: "waiting" } as const;
const STATE_KINDS = { delivered: "good", failed: "bad", pending: "plain" } as const;

const COLUMNS: readonly Column<AdminNotice>[] = [
  {
    label: "Account",
    render: ({ account }) => (
      <a href={createAccountFragment(account)}>
        <Text value={account} />
      </a>
    ),
  },
  {
    label: "Delivery",
    getValue: ({ state }) => state,
    render: ({ state, delivered_at, next_attempt }) => (
      <>
        <Badge kind={STATE_KINDS[state]}>{STATE_LABELS[state]}</Badge>{" "}
        {state === "delivered" && <Instant value={delivered_at} />}
        {state === "pending" && (
          <>
            next try <Instant value={next_attempt} />
          </>
        )}
      </>
    ),
  },
  { label: "Tries", isNumeric: true, render: ({ attempts }) => attempts },
  {
    label: "Last failure",
    render: ({ failure }) => (failure === null ? "none" : <Text value={failure} />),
  },
  { label: "Fell below", isNumeric: true, render: ({ threshold }) => <Count value={threshold} /> },
  { label: "To", isNumeric: true, render: ({ balance }) => <Count value={balance} /> },
  { label: "When", getValue: ({ at }) => at, render: ({ at }) => <Instant value={at} /> },
];

export function Notices() {
  const notices = useAdminRead<readonly AdminNotice[]>("notices");
  return (
    <>
      <h1>Notices</h1>
      <p>
        When a balance falls below what its account has set, the service tells the receiver at{" "}
        <code>WEBHOOK_URL</code>. Here is how that went, for 30 days.
      </p>
      <Reading read={notices}>{(all) => <NoticeList all={all} />}</Reading>
    </>
  );
}

function NoticeList({ all }: { readonly all: readonly AdminNotice[] }) {
  const { shown, more } = useShown(all);
  if (all.length === 0) {
    return (
      <Empty>
        There is no notice. An account has some once it has a number at “low below”, and its balance
        falls below it.
      </Empty>
    );
  }
  const undelivered = all.filter(({ state }) => state !== "delivered").length;
  return (
    <>
      <Table
        caption={`${all.length} notices, ${undelivered} not delivered`}
        columns={COLUMNS}
        items={shown}
        getKey={({ id }) => id}
      />
      {more}
    </>
  );
}
