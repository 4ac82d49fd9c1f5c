/** Forms of the administrator's page. None is sent twice at a time. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Text } from "../parts/figures.tsx";
import { Button, Form, type Fields } from "../parts/form.tsx";
import { describeFailure, isOutage } from "./api.ts";

/** Sends a form; returns a sentence about the result. */
type Submit = (fields: Fields) => Promise<string>;

/** How the last submission went. */
interface Outcome {
  readonly text: string;
  readonly isFailure: boolean;
}

/** A sentence about a result, which screen readers read out. */
function Message({ text, isFailure = false }: Partial<Outcome>) {
  return (
    <p role="status" class={isFailure ? "message loss" : "message"}>
      {text}
    </p>
  );
}

/** Says that a change failed, or that its outcome is unknown. */
function describeOutcome(error: unknown): string {
  return isOutage(error)
    ? `${describeFailure(error)} This may be done or not. Nothing that you entered is lost: try again.`
    : `Not done: ${describeFailure(error)}`;
}

/** Submits a form, once at a time. */
function useSubmission(onSubmit: Submit, onSuccess: (form: HTMLFormElement, text: string) => void) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  // The state changes too late for the second of two quick clicks.
  const isSubmitting = useRef(false);
  const submit = async (fields: Fields, form: HTMLFormElement) => {
    if (isSubmitting.current) return;
    isSubmitting.current = true;
    setBusy(true);
    try {
      const text = await onSubmit(fields);
      setOutcome({ text, isFailure: false });
      onSuccess(form, text);
    } catch (error) {
      setOutcome({ text: describeOutcome(error), isFailure: true });
    } finally {
      isSubmitting.current = false;
      setBusy(false);
    }
  };
  return {
    isBusy,
    outcome,
    submit: (fields: Fields, form: HTMLFormElement) => void submit(fields, form),
  };
}

/** A form in a line. It is emptied when it succeeds. */
export function FieldForm(properties: {
  readonly label: string;
  readonly submitLabel?: string;
  readonly onSubmit: Submit;
  readonly children?: ComponentChildren;
}) {
  const { label, submitLabel = label, onSubmit, children } = properties;
  const { isBusy, outcome, submit } = useSubmission(onSubmit, (form) => {
    form.reset();
    form.querySelector("input")?.focus();
  });
  return (
    <>
      <Form class="fields" aria-label={label} onSubmit={submit}>
        {children}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Wait…" : submitLabel}
        </button>
      </Form>
      <Message {...outcome} />
    </>
  );
}

interface FieldProperties {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  /** The width, in characters. */
  readonly size: number;
  readonly value?: string;
  readonly onInput?: (value: string) => void;
}

/** A field of a form. */
export function Field(properties: FieldProperties) {
  const { name, label, hint, isRequired = false, isNumber = false, size, value } = properties;
  return (
    <label class="field">
      <span>
        {label}
        {!isRequired && <small class="muted"> optional</small>}
      </span>
      <input
        name={name}
        size={size}
        required={isRequired}
        defaultValue={value}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        inputMode={isNumber ? "numeric" : undefined}
        onInput={({ currentTarget }) => properties.onInput?.(currentTarget.value)}
      />
      {hint !== undefined && <small class="muted">{hint}</small>}
    </label>
  );
}

/** A form in front of the page. */
export interface DialogForm {
  /** A name in it is set apart, because it can have any text. */
  readonly title: string | readonly [before: string, name: string, after?: string];
  readonly submitLabel: string;
  /** Whether something is lost: then the button that does nothing has the focus. */
  readonly isDangerous?: boolean;
  /** Whether the button that opened it goes away. Then its section has the focus afterwards. */
  readonly removesOpener?: boolean;
  readonly content: ComponentChildren;
  readonly onSubmit: Submit;
}

/** Opens a form in front of the page. */
export type OpenDialog = (form: DialogForm) => void;

/**
 * A form in front of the page, and a message about the one before.
 *
 * @param reload Called when one is done.
 */
export function useDialog(reload: () => void) {
  const [form, setForm] = useState<DialogForm>();
  const [outcome, setOutcome] = useState<Outcome>();
  const onDone = (text: string) => {
    setOutcome({ text, isFailure: false });
    reload();
  };
  const onClose = () => setForm(undefined);
  const open: OpenDialog = setForm;
  return {
    open,
    dialog: form !== undefined && <FormDialog {...form} onDone={onDone} onClose={onClose} />,
    message: <Message {...outcome} />,
    /** Says how something else went. */
    say: setOutcome,
  };
}

interface FormDialogProperties extends DialogForm {
  /** Gets the sentence about the result. */
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

/** A form in front of the page. It is closed when it succeeds. */
function FormDialog(properties: FormDialogProperties) {
  const {
    title,
    submitLabel,
    content,
    onSubmit,
    onDone,
    onClose,
    isDangerous = false,
  } = properties;
  const { removesOpener = isDangerous } = properties;
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
          <Button
            label="Cancel"
            look="cancel"
            isDisabled={isBusy}
            onClick={() => dialog.current?.close()}
          />
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {isBusy ? "Wait…" : submitLabel}
          </button>
        </div>
      </Form>
    </dialog>
  );
}

/**
 * Parses a count that a person typed. It takes commas and spaces between thousands only: `1.000` and
 * `1,5` mean other numbers elsewhere.
 *
 * @throws {RangeError}
 */
export function parseCount(name: string, text: string): number {
  if (/^(?:\d+|\d{1,3}(?:[, _\u202F]\d{3})+)$/.test(text))
    return Number(text.replaceAll(/\D/g, ""));
  throw new RangeError(`${name} must be a whole number such as 1000, got ${text}`);
}
