/** The balance of an account, and the forms that grant credits and set when a balance is low. */
import { useState } from "preact/hooks";
import { formatExact } from "../../format.ts";
import { Badge } from "../../parts/states.tsx";
import { sendAdmin, type AdminAccount, type Resource } from "../api.ts";
import { Field, parseCount, type DialogForm } from "../forms.tsx";

export const isLow = ({ balance, low_balance }: AdminAccount): boolean =>
  low_balance !== null && balance < low_balance;

export const Balance = ({ account }: { readonly account: AdminAccount }) => (
  <>
    {isLow(account) && [<Badge kind="bad" word="low" />, " "]}
    {formatExact(account.balance)}
  </>
);

/** A default reference of a grant, so that a grant that is sent again is granted once. */
function createReference(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function createGrantForm({ name, balance }: AdminAccount): DialogForm {
  const ownReference = createReference();
  return {
    title: ["Grant credits to ", name],
    submitLabel: "Grant credits",
    content: <GrantFields balance={balance} />,
    async onSubmit({ amount = "", reference = ownReference, reason }) {
      const body = { account: name, amount: parseCount("Amount", amount), reference, reason };
      const granted = await sendAdmin<Resource<"GrantReceipt">>("POST", "grants", body);
      const has = `${name} has ${formatExact(granted.balance)} credits`;
      if (granted.is_new) return `${formatExact(body.amount)} credits are granted: ${has} now.`;
      if (reference === ownReference) return `The credits were granted by the try before: ${has}.`;
      return `Nothing is granted: the reference ${reference} was granted before. ${has}.`;
    },
  };
}

function GrantFields({ balance }: { readonly balance: number }) {
  const [after, setAfter] = useState<number>();
  const addAmount = (amount: string) => {
    try {
      setAfter(balance + parseCount("Amount", amount.trim()));
    } catch {
      setAfter(undefined);
    }
  };
  return (
    <>
      <Field
        name="amount"
        label="Amount"
        required
        inputMode="numeric"
        size={12}
        onInput={({ currentTarget }) => addAmount(currentTarget.value)}
      />
      <p class="hint" aria-live="polite">
        Balance: {formatExact(balance)}
        {after !== undefined && <strong> → {formatExact(after)}</strong>}
      </p>
      <Field
        name="reference"
        label="Reference"
        hint="Such as the number of the invoice. A reference grants only once."
        size={32}
      />
      <Field name="reason" label="Reason" hint="Such as how it was paid." size={32} />
    </>
  );
}

export const createLowBalanceForm = ({ name, low_balance }: AdminAccount): DialogForm => ({
  title: ["When is the balance of ", name, " low?"],
  submitLabel: "Save",
  content: (
    <Field
      name="threshold"
      label="Low below"
      hint="Credits. When the balance falls below them, there is a notice. Empty: no notices."
      inputMode="numeric"
      size={12}
      defaultValue={low_balance ?? ""}
    />
  ),
  async onSubmit({ threshold }) {
    const value = threshold === undefined ? null : parseCount("Low below", threshold);
    await sendAdmin("PATCH", "accounts", { name, low_balance: value });
    return value === null
      ? `No balance of ${name} is low, and there are no notices.`
      : `The balance of ${name} is low below ${formatExact(value)} credits.`;
  },
});
