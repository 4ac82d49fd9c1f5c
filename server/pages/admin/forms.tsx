/** Forms of the administrator's page. None is sent twice at a time. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { describeFailure, isOutage } from "./api.ts";

/** The fields of a form that are not empty. */
export type Fields = Readonly<Record<string, string>>;

/** Sends a form; returns what to say about it. */
export type Submit = (fields: Fields) => Promise<string>;

/** How the last submission went. */
interface Outcome {
  readonly text: string;
  readonly isFailure: boolean;
}

/** Says how something went, to those who hear the page too. */
export function Message({
  text,
  isFailure = false,
}: {
  readonly text?: string | undefined;
  readonly isFailure?: boolean;
}) {
  return (
    <p role="status" class={isFailure ? "message loss" : "message"}>
      {text}
    </p>
  );
}

/** Says that a change failed, or that nobody knows. */
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
  const submit = async (event: { currentTarget: HTMLFormElement; preventDefault(): void }) => {
    event.preventDefault();
    if (isSubmitting.current) return;
    const form = event.currentTarget;
    isSubmitting.current = true;
    setBusy(true);
    try {
      const text = await onSubmit(readFields(form));
      setOutcome({ text, isFailure: false });
      onSuccess(form, text);
    } catch (error) {
      setOutcome({ text: describeOutcome(error), isFailure: true });
    } finally {
      isSubmitting.current = false;
      setBusy(false);
    }
  };
  return { isBusy, outcome, submit: (event: Parameters<typeof submit>[0]) => void submit(event) };
}

/** Reads the fields that are not empty; those with several values have commas between them. */
function readFields(form: HTMLFormElement): Fields {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== "string" || value.trim() === "") continue;
    fields[name] = fields[name] === undefined ? value.trim() : `${fields[name]},${value.trim()}`;
  }
  return fields;
}

/** A form in a line. It is emptied when it succeeds. */
export function FieldForm({
  label,
  submitLabel = label,
  onSubmit,
  children,
}: {
  readonly label: string;
  readonly submitLabel?: string;
  readonly onSubmit: Submit;
  readonly children?: ComponentChildren;
}) {
  const { isBusy, outcome, submit } = useSubmission(onSubmit, (form) => {
    form.reset();
    form.querySelector("input")?.focus();
  });
  return (
    <>
      <form class="fields" aria-label={label} onSubmit={submit}>
        {children}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Wait…" : submitLabel}
        </button>
      </form>
      <Message {...outcome} />
    </>
  );
}

/** A field of a form. */
export function Field({
  name,
  label,
  hint,
  isRequired = false,
  isNumber = false,
  size = 16,
  value,
  onInput,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  /** The width, in characters. */
  readonly size?: number;
  readonly value?: string;
  readonly onInput?: (value: string) => void;
}) {
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
        onInput={({ currentTarget }) => onInput?.(currentTarget.value)}
      />
      {hint !== undefined && <small class="muted">{hint}</small>}
    </label>
  );
}

/**
 * A form in front of the page, for what cannot be undone. It is closed when it succeeds.
 *
 * @param onDone Gets what to say about it.
 */
export function FormDialog({
  title,
  submitLabel,
  isDangerous = false,
  removesOpener = isDangerous,
  onSubmit,
  onDone,
  onClose,
  children,
}: {
  readonly title: ComponentChildren;
  readonly submitLabel: string;
  /** Whether something is lost: then the button that does nothing has the focus. */
  readonly isDangerous?: boolean;
  /** Whether the button that opened it goes away. Then its section has the focus afterwards. */
  readonly removesOpener?: boolean;
  readonly onSubmit: Submit;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
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
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onCancel={(event) => isBusy && event.preventDefault()}
    >
      <form onSubmit={submit}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {outcome?.isFailure === true && (
          <p role="alert" class="loss">
            {outcome.text}
          </p>
        )}
        <div class="row actions">
          <button
            type="button"
            class="cancel"
            disabled={isBusy}
            onClick={() => dialog.current?.close()}
          >
            Cancel
          </button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {isBusy ? "Wait…" : submitLabel}
          </button>
        </div>
      </form>
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
