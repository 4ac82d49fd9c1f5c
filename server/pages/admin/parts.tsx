/** What the parts of the administrator's page share. */
import type { ComponentChildren } from "preact";
import type { ChangeMessage } from "./reads.ts";

/** Says how the last change went, to those who hear the page too. */
export function Message({ message }: { readonly message: ChangeMessage | undefined }) {
  return (
    <p role="status" class={message?.isFailure === true ? "loss" : ""}>
      {message?.text ?? ""}
    </p>
  );
}

/**
 * A form whose fields are given to a function; it is emptied when that succeeds.
 *
 * @param onSubmit Gets the fields that are not empty; returns whether it succeeded.
 */
export function FieldForm({
  label,
  onSubmit,
  children,
}: {
  readonly label: string;
  readonly onSubmit: (fields: Readonly<Record<string, string>>) => Promise<boolean>;
  readonly children: ComponentChildren;
}) {
  return (
    <form
      class="row"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const fields: Record<string, string> = {};
        for (const [name, value] of new FormData(form)) {
          if (typeof value === "string" && value.trim() !== "") fields[name] = value.trim();
        }
        void onSubmit(fields).then((hasSucceeded) => hasSucceeded && form.reset());
      }}
    >
      {children}
      <button type="submit">{label}</button>
    </form>
  );
}

/** A field of a form. */
export function Field({
  name,
  label,
  isRequired = false,
  size = 16,
}: {
  readonly name: string;
  readonly label: string;
  readonly isRequired?: boolean;
  readonly size?: number;
}) {
  return (
    <label class="control">
      {label}
      <input name={name} size={size} required={isRequired} autocomplete="off" />
    </label>
  );
}

/** Reads a count that a person typed; `undefined` for none. */
export function parseCount(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.replaceAll(/[,_ ]/g, ""));
}
