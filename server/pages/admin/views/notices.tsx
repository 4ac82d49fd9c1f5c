/** The notices about low balances: lists them with the state of delivery, and sends them again. */
import { NOTICE_STATES } from "../../../stored-names.ts";
import { formatExact } from "../../format.ts";
import { Instant, Text } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Badge } from "../../parts/states.tsx";
import type { Column } from "../../parts/table.tsx";
import { createFragment } from "../../router.ts";
import { sendAdmin, type Resource } from "../api.ts";
import { FilteredList } from "../filtered-list.tsx";
import type { DialogForm, OpenDialog } from "../forms.tsx";

type Notice = Resource<"AdminNotice">;

const STATE_KINDS = { delivered: "good", failed: "bad", pending: "plain" } as const;

const Delivery = ({ state, delivered_at, next_attempt }: Notice) => (
  <>
    <Badge kind={STATE_KINDS[state]} word={state} />{" "}
    {state === "delivered" && <Instant value={delivered_at} />}
    {state === "pending" && ["next try ", <Instant value={next_attempt} />]}
    {state === "failed" && "given up"}
  </>
);

const createColumns = (open: OpenDialog): readonly Column<Notice>[] => [
  {
    label: "Account",
    field: "account",
    getHref: ({ account }) => createFragment(["accounts", account]),
  },
  { label: "Delivery", render: Delivery },
  { label: "When", as: "instant", field: "at" },
  {
    label: "Balance",
    as: "exact",
    render: ({ balance, threshold }) => `${formatExact(balance)} < ${formatExact(threshold)}`,
  },
  { label: "Tries", as: "exact", field: "attempts" },
  { label: "Last failure", getValue: ({ failure }) => failure ?? "none" },
  {
    label: "Change",
    as: "action",
    render: (notice) =>
      notice.state !== "delivered" && (
        <Button
          label="Send again"
          about={`Send again the notice about ${notice.account}`}
          onClick={() => open(createResendForm(notice))}
        />
      ),
  },
];

const createResendForm = ({ id, account, balance }: Notice): DialogForm => ({
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
});

export const Notices = ({ query }: { readonly query: URLSearchParams }) => (
  <>
    <PageHead
      title="Notices"
      below={
        <p class="muted">
          When a balance falls below what is low for its account, the service tells the receiver at{" "}
          <code>WEBHOOK_URL</code>. A notice is deleted 30 days after it was delivered or given up.
        </p>
      }
    />
    <FilteredList
      part="notices"
      query={query}
      text={{ name: "account", label: "Account" }}
      choice={{ name: "state", label: "State", options: NOTICE_STATES }}
      getItems={({ notices }: Resource<"NoticePage">) => notices}
      createColumns={createColumns}
      getKey={({ id }) => id}
      noun="notice"
      empty="There is no notice. The first one comes when the balance of an account falls below what is low for it."
    />
  </>
);
