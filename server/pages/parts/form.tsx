/** A form that passes its fields to a function, and a button for anything but sending a form. */
import type { FormHTMLAttributes } from "preact";

export type Fields = Readonly<Record<string, string>>;

/** Reads the fields that are not empty; commas separate the values of a field with several. */
function readFields(form: HTMLFormElement): Fields {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== "string" || value.trim() === "") continue;
    fields[name] = fields[name] === undefined ? value.trim() : `${fields[name]},${value.trim()}`;
  }
  return fields;
}

interface FormProperties extends Omit<FormHTMLAttributes, "onSubmit"> {
  readonly onSubmit: (fields: Fields, form: HTMLFormElement) => void;
}

export const Form = ({ onSubmit, ...attributes }: FormProperties) => (
  <form
    {...attributes}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit(readFields(event.currentTarget), event.currentTarget);
    }}
  />
);

interface ButtonProperties {
  readonly label: string;
  readonly onClick: () => void;
  /** A full sentence for screen readers, which read the button without its row. */
  readonly about?: string;
  readonly look?: "primary" | "plain" | "cancel" | "sort";
  readonly hint?: string | undefined;
  readonly isDisabled?: boolean;
}

export const Button = ({ label, onClick, about, look, hint, isDisabled }: ButtonProperties) => (
  <button
    type="button"
    class={look}
    title={hint}
    aria-label={about}
    disabled={isDisabled}
    onClick={onClick}
  >
    {label}
  </button>
);
