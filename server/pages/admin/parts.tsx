/** Components that the views of the administrator's page share. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatExact } from "../format.ts";
import { useProgress } from "../store.ts";
import { Button } from "../parts/form.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { adminSession, describeFailure } from "./api.ts";
import type { AdminRead } from "./reads.ts";

/** Shows a value once it is read. While the service does not answer, the frame of the page says so. */
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
          <Button label="Try again" onClick={reload} />
        </div>
      )}
      {value !== undefined && children(value)}
      {value === undefined && failure === undefined && <Pending />}
    </>
  );
}

function Pending() {
  const { outage } = adminSession.use();
  return outage === null ? <Loading /> : <Empty>This is read once the service answers.</Empty>;
}

/** Formats how many there are: `1 key`, `2 keys`. */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatExact(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A text that is copied with a button. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState("");
  const copy = () =>
    // Browsers allow that on HTTPS and on the own machine only.
    navigator.clipboard.writeText(text).then(
      () => setState("Copied"),
      () => setState("Select it, and copy it yourself"),
    );
  return (
    <>
      <Button label={label} look="primary" onClick={() => void copy()} />
      <span role="status">{state}</span>
    </>
  );
}

/** A button that reads the next page of a list, if there is one. */
export function MorePages({ readMore }: { readonly readMore: (() => Promise<void>) | undefined }) {
  const { progress, follow } = useProgress();
  const { isLoading, error } = progress;
  if (readMore === undefined) return null;
  return (
    <div class="row">
      <Button
        label={isLoading ? "Wait…" : "Show more"}
        isDisabled={isLoading}
        onClick={() => follow(readMore())}
      />
      <span role="alert" class="loss">
        {error !== undefined && describeFailure(error)}
      </span>
    </div>
  );
}
