/** Grants credits to an account, and sets when its balance is low. */
import { useState } from "preact/hooks";
import { formatExact } from "../../format.ts";
import { Text } from "../../parts/figures.tsx";
import { sendAdmin } from "../api.ts";
import { Field, FormDialog, parseCount } from "../forms.tsx";
import type { AdminAccount } from "../resources.ts";

interface CreditsDialogProperties {
  readonly account: AdminAccount;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

/** A reference for a grant that is given none, so that it can be sent again and granted once. */
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

export function GrantDialog({ account: { name, balance }, ...dialog }: CreditsDialogProperties) {
  const [ownReference] = useState(createReference);
  const [amountText, setAmountText] = useState("");
  const after = computeBalance(balance, amountText);
  const grant = async ({
    amount = "",
    reference = ownReference,
    reason,
  }: Record<string, string>) => {
    const body = { account: name, amount: parseCount("Amount", amount), reference, reason };
    const granted = await sendAdmin<{ is_new: boolean; balance: number }>("POST", "grants", body);
    const has = `${name} has ${formatExact(granted.balance)} credits`;
    if (granted.is_new) return `${formatExact(body.amount)} credits are granted: ${has} now.`;
    if (reference === ownReference) return `The credits were granted by the try before: ${has}.`;
    return `Nothing is granted: the reference ${reference} was granted before. ${has}.`;
  };
  return (
    <FormDialog
      title={
        <>
          Grant credits to <Text value={name} />
        </>
      }
      submitLabel="Grant credits"
      onSubmit={grant}
      {...dialog}
    >
      <Field name="amount" label="Amount" isRequired isNumber size={12} onInput={setAmountText} />
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
    </FormDialog>
  );
}

export function LowBalanceDialog({
  account: { name, low_balance },
  ...dialog
}: CreditsDialogProperties) {
  const set = async ({ threshold }: Readonly<Record<string, string>>) => {
    const value = threshold === undefined ? null : parseCount("Low below", threshold);
    await sendAdmin("PATCH", "accounts", { name, low_balance: value });
    return value === null
      ? `No balance of ${name} is low, and there are no notices.`
      : `The balance of ${name} is low below ${formatExact(value)} credits.`;
  };
  return (
    <FormDialog
      title={
        <>
          When is the balance of <Text value={name} /> low?
        </>
      }
      submitLabel="Save"
      onSubmit={set}
      {...dialog}
    >
      <Field
        name="threshold"
        label="Low below"
        hint="Credits. When the balance falls below them, there is a notice. Empty: no notices."
        isNumber
        size={12}
        {...(low_balance === null ? {} : { value: String(low_balance) })}
      />
    </FormDialog>
  );
}
