/** The forms that create, rotate and revoke an API key. */
import { KEY_SCOPES } from "../../../stored-names.ts";
import { formatLocal } from "../../format.ts";
import { Text } from "../../parts/figures.tsx";
import { sendAdmin } from "../api.ts";
import { Field, type DialogForm } from "../forms.tsx";
import type { AdminKey, CreatedKey } from "../resources.ts";

const SCOPE_LABELS: Readonly<Record<(typeof KEY_SCOPES)[number], string>> = {
  read: "read data",
  creators: "change the monitoring list",
};

/** How long a replaced key stays valid. */
const OVERLAPS = [
  ["0", "at once"],
  ["1h", "in an hour"],
  ["24h", "in a day"],
  ["7d", "in a week"],
  ["30d", "in 30 days"],
] as const;

const describeKey = ({ id, begins_with, label }: AdminKey): string =>
  `${begins_with}… (${label === null ? "" : `${label}, `}number ${id})`;

/** Shows a key that was just created. */
type ShowKey = (created: CreatedKey) => void;

export function createKeyForm(account: string, showKey: ShowKey): DialogForm {
  return {
    title: ["Create a key of ", account],
    submitLabel: "Create key",
    content: (
      <>
        <Field name="label" label="Label" hint="Who or what uses it" size={32} />
        <Field name="expires" label="Expires" hint="Such as 90d, 8w or 2027-01-31" size={12} />
        <fieldset class="field">
          <legend>It may</legend>
          {KEY_SCOPES.map((scope) => (
            <label key={scope} class="control">
              <input type="checkbox" name="scopes" value={scope} defaultChecked />
              {SCOPE_LABELS[scope]}
            </label>
          ))}
        </fieldset>
      </>
    ),
    async onSubmit({ label, expires, scopes }) {
      const body = { account, label, expires, scopes: scopes?.split(",") ?? [] };
      showKey(await sendAdmin<CreatedKey>("POST", "keys", body));
      return "";
    },
  };
}

export function createRevocationForm(key: AdminKey): DialogForm {
  return {
    title: "Revoke this key?",
    submitLabel: "Revoke key",
    isDangerous: true,
    content: (
      <>
        <p>
          <Text value={describeKey(key)} />
        </p>
        <p>
          Requests with it are refused from now on. That cannot be undone. If it is still in use,
          rotate it instead: then both keys work for a while.
        </p>
      </>
    ),
    async onSubmit() {
      await sendAdmin("DELETE", "keys", { id: key.id });
      return `Key ${describeKey(key)} is revoked.`;
    },
  };
}

export function createRotationForm(key: AdminKey, showKey: ShowKey): DialogForm {
  return {
    title: "Rotate this key",
    submitLabel: "Rotate key",
    removesOpener: true,
    content: (
      <>
        <p>
          <Text value={describeKey(key)} />
        </p>
        <p>There will be a new key with the same label and scopes, which is shown once.</p>
        <label class="field">
          <span>The old key ends</span>
          <select name="overlap">
            {OVERLAPS.map(([overlap, label]) => (
              <option key={overlap} value={overlap} selected={overlap === "24h"}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </>
    ),
    async onSubmit({ overlap }) {
      const path = `keys/${key.id}/rotate`;
      type Rotated = CreatedKey & { readonly old_expires_at: string };
      const rotated = await sendAdmin<Rotated>("POST", path, { overlap });
      showKey(rotated);
      return `The old key is valid until ${formatLocal(rotated.old_expires_at)}.`;
    },
  };
}
