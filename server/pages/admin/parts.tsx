/** What the views of the administrator's page share. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatExact } from "../format.ts";
import { Empty, Loading } from "../parts/states.tsx";
import { describeFailure } from "./api.ts";
import { useAdminSession, type AdminRead } from "./reads.ts";

/** Shows what was read. What the service does not answer, the frame of the page says. */
export function Reading<Value>({
  read: { value, failure, reload },
  children,
}: {
  readonly read: AdminRead<Value>;
  readonly children: (value: Value) => ComponentChildren;
}) {
  return (
    <>
      {failure !== undefined && (
        <div class="notice" role="alert">
          <p>
            <strong>This could not be read.</strong> {failure}
          </p>
          <button type="button" onClick={reload}>
            Try again
          </button>
        </div>
      )}
      {value !== undefined && children(value)}
      {value === undefined && failure === undefined && <Pending />}
    </>
  );
}

function Pending() {
  const { outage } = useAdminSession();
  return outage === null ? <Loading /> : <Empty>This is read once the service answers.</Empty>;
}

/** Formats how many there are: `1 key`, `2 keys`. */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatExact(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A text that is copied with a button. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<"" | "Copied" | "Select it, and copy it yourself">("");
  return (
    <>
      <button
        type="button"
        class="primary"
        onClick={() =>
          void copy(text).then((isCopied) =>
            setState(isCopied ? "Copied" : "Select it, and copy it yourself"),
          )
        }
      >
        {label}
      </button>
      <span role="status">{state}</span>
    </>
  );
}

/** Copies a text. Browsers allow that on HTTPS and on the own machine only. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A button that reads the next page of a list, if there is one. */
export function MorePages({ readMore }: { readonly readMore: (() => Promise<void>) | undefined }) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  if (readMore === undefined) return null;
  const read = async () => {
    setBusy(true);
    setFailure(undefined);
    await readMore().catch((error: unknown) => setFailure(describeFailure(error)));
    setBusy(false);
  };
  return (
    <div class="row">
      <button type="button" disabled={isBusy} onClick={() => void read()}>
        {isBusy ? "Wait…" : "Show more"}
      </button>
      <span role="alert" class="loss">
        {failure}
      </span>
    </div>
  );
}

/** Rows that are shown at first. */
const ROWS_STEP = 100;

/** How many rows of a long list are shown, and a button for more. */
export function useRowsMax(total: number) {
  const [rowsMax, setRowsMax] = useState(ROWS_STEP);
  const left = total - rowsMax;
  const moreRows = left > 0 && (
    <p class="row">
      <button type="button" onClick={() => setRowsMax(rowsMax + ROWS_STEP)}>
        Show {Math.min(left, ROWS_STEP)} more
      </button>
      <span class="muted">
        {formatExact(rowsMax)} of {formatExact(total)}
      </span>
    </p>
  );
  return { rowsMax, moreRows };
}
