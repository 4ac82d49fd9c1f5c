/** Forms, dialogs, fields and counts of the administrator's page. No form is sent twice at once. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, PartialInputHTMLAttributes } from "preact";
import { Text } from "../parts/figures.tsx";
import { Button, Form, type Fields } from "../parts/form.tsx";
import { describeFailure, isOutage } from "./api.ts";

/** Sends a form; returns a sentence about the result. */
type Submit = (fields: Fields) => Promise<string>;

type Outcome = Readonly<{ text: string; isFailure: boolean }>;

const Message = ({ text, isFailure = false }: Partial<Outcome>) => (
  <p role="status" class={isFailure ? "message loss" : "message"}>
    {text}
  </p>
);

function useSubmission(onSubmit: Submit, onSuccess: (form: HTMLFormElement, text: string) => void) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  // The state changes too late for the second of two quick clicks.
  const isSubmitting = useRef(false);
  const send = async (fields: Fields, form: HTMLFormElement) => {
    if (isSubmitting.current) return;
    isSubmitting.current = true;
    setBusy(true);
    try {
      const text = await onSubmit(fields);
      setOutcome({ text, isFailure: false });
      onSuccess(form, text);
    } catch (error) {
      const failure = describeFailure(error);
      const text = isOutage(error)
        ? `${failure} This may be done or not. Nothing that you entered is lost: try again.`
        : `Not done: ${failure}`;
      setOutcome({ text, isFailure: true });
    } finally {
      isSubmitting.current = false;
      setBusy(false);
    }
  };
  return { isBusy, outcome, submit: (...form: Parameters<typeof send>) => void send(...form) };
}

export function FieldForm(properties: {
  readonly label: string;
  readonly submitLabel?: string;
  readonly look?: "primary";
  readonly onSubmit: Submit;
  readonly children?: ComponentChildren;
}) {
  const { label, submitLabel = label, look, onSubmit, children } = properties;
  const { isBusy, outcome, submit } = useSubmission(onSubmit, (form) => {
    form.reset();
    form.querySelector("input")?.focus();
  });
  return (
    <>
      <Form class="fields" aria-label={label} onSubmit={submit}>
        {children}
        <button type="submit" class={look} disabled={isBusy}>
          {isBusy ? "Wait…" : submitLabel}
        </button>
      </Form>
      <Message {...outcome} />
    </>
  );
}

type FieldProperties = Omit<PartialInputHTMLAttributes<HTMLInputElement>, "role" | "type"> &
  Readonly<{ label: string; hint?: string }>;

export const Field = ({ label, hint, ...attributes }: FieldProperties) => (
  <label class="field">
    <span>
      {label}
      {attributes.required !== true && <small class="muted"> optional</small>}
    </span>
    <input autocomplete="off" autocapitalize="none" spellcheck={false} {...attributes} />
    {hint !== undefined && <small class="muted">{hint}</small>}
  </label>
);

export interface DialogForm {
  /** A name in the title is a part of its own, because it can have any text. */
  readonly title: string | readonly [before: string, name: string, after?: string];
  readonly submitLabel: string;
  /** Whether the form removes something: then the button Cancel has the focus at first. */
  readonly isDangerous?: boolean;
  /** Whether the form removes the button that opened it: then its section gets the focus. */
  readonly removesOpener?: boolean;
  readonly content: ComponentChildren;
  readonly onSubmit: Submit;
}

export type OpenDialog = (form: DialogForm) => void;

export function useDialog(reload: () => void) {
  const [form, open] = useState<DialogForm>();
  const [outcome, setOutcome] = useState<Outcome>();
  const onDone = (text: string) => {
    setOutcome({ text, isFailure: false });
    reload();
  };
  return {
    open,
    dialog: form !== undefined && (
      <FormDialog form={form} onDone={onDone} onClose={() => open(undefined)} />
    ),
    message: <Message {...outcome} />,
    say: setOutcome,
  };
}

function FormDialog({
  form: { title, submitLabel, isDangerous = false, removesOpener = isDangerous, content, onSubmit },
  onDone,
  onClose,
}: Readonly<{ form: DialogForm; onDone: (text: string) => void; onClose: () => void }>) {
  const dialog = useRef<HTMLDialogElement>(null);
  const place = useRef<HTMLElement>(null);
  const { isBusy, outcome, submit } = useSubmission(onSubmit, (_, text) => {
    dialog.current?.close();
    if (removesOpener) place.current?.focus({ preventScroll: true });
    onDone(text);
  });
  useEffect(() => {
    place.current = document.activeElement?.closest<HTMLElement>("[tabindex='-1']") ?? null;
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>(isDangerous ? ".cancel" : "input")?.focus();
  }, []);
  const [before, name, after] = typeof title === "string" ? [title] : title;
  const close = () => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onCancel={(event) => isBusy && event.preventDefault()}
    >
      <Form onSubmit={submit}>
        <h2 id="dialog-title">
          {before}
          {name !== undefined && <Text value={name} />}
          {after}
        </h2>
        {content}
        {outcome?.isFailure === true && (
          <p role="alert" class="loss">
            {outcome.text}
          </p>
        )}
        <div class="row actions">
          <Button label="Cancel" look="cancel" isDisabled={isBusy} onClick={close} />
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {isBusy ? "Wait…" : submitLabel}
          </button>
        </div>
      </Form>
    </dialog>
  );
}

/**
 * Parses a count that a person typed.
 *
 * @throws {RangeError} For any other text, also `1.000` and `1,5`, whose meaning depends on the
 * country.
 */
export function parseCount(name: string, text: string): number {
  if (/^(?:\d+|\d{1,3}(?:[, _\u202F]\d{3})+)$/.test(text))
    return Number(text.replaceAll(/\D/g, ""));
  throw new RangeError(`${name} must be a whole number such as 1000, got ${text}`);
}
