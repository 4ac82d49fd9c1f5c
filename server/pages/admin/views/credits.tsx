/** The forms that grant credits to an account, and that set when its balance is low. */
import { useState } from "preact/hooks";
import { formatExact } from "../../format.ts";
import { sendAdmin } from "../api.ts";
import { Field, parseCount, type DialogForm } from "../forms.tsx";
import type { AdminAccount } from "../resources.ts";

/** A default reference of a grant, so that a grant that is sent again is granted once. */
function createReference(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The balance after a grant, as far as the amount is one. */
function computeBalance(balance: number, amount: string): number | undefined {
  try {
    return balance + parseCount("Amount", amount.trim());
  } catch {
    return undefined;
  }
}

export function createGrantForm({ name, balance }: AdminAccount): DialogForm {
  const ownReference = createReference();
  return {
    title: ["Grant credits to ", name],
    submitLabel: "Grant credits",
    content: <GrantFields balance={balance} />,
    async onSubmit({ amount = "", reference = ownReference, reason }) {
      const body = { account: name, amount: parseCount("Amount", amount), reference, reason };
      const granted = await sendAdmin<{ is_new: boolean; balance: number }>("POST", "grants", body);
      const has = `${name} has ${formatExact(granted.balance)} credits`;
      if (granted.is_new) return `${formatExact(body.amount)} credits are granted: ${has} now.`;
      if (reference === ownReference) return `The credits were granted by the try before: ${has}.`;
      return `Nothing is granted: the reference ${reference} was granted before. ${has}.`;
    },
  };
}

function GrantFields({ balance }: { readonly balance: number }) {
  const [amount, setAmount] = useState("");
  const after = computeBalance(balance, amount);
  return (
    <>
      <Field name="amount" label="Amount" isRequired isNumber size={12} onInput={setAmount} />
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

export function createLowBalanceForm({ name, low_balance }: AdminAccount): DialogForm {
  return {
    title: ["When is the balance of ", name, " low?"],
    submitLabel: "Save",
    content: (
      <Field
        name="threshold"
        label="Low below"
        hint="Credits. When the balance falls below them, there is a notice. Empty: no notices."
        isNumber
        size={12}
        {...(low_balance === null ? {} : { value: String(low_balance) })}
      />
    ),
    async onSubmit({ threshold }) {
      const value = threshold === undefined ? null : parseCount("Low below", threshold);
      await sendAdmin("PATCH", "accounts", { name, low_balance: value });
      return value === null
        ? `No balance of ${name} is low, and there are no notices.`
        : `The balance of ${name} is low below ${formatExact(value)} credits.`;
    },
  };
}
