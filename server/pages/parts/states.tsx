/** What a page shows while it loads, when nothing is there, and when a request failed. */
import type { ComponentChildren } from "preact";
import { ConnectionError, MetricsError } from "../../../core/client/mod.ts";
import type { Read } from "../hooks.ts";
import { Button } from "./form.tsx";

/** Shows what was read, or why it is not there. */
export function Reading<Value>({
  read,
  children,
}: {
  readonly read: Read<Value>;
  readonly children: (value: Value) => ComponentChildren;
}) {
  if (read.state === "loading") return <Loading />;
  if (read.state === "failed") return <Failure error={read.error} retry={read.retry} />;
  return <>{children(read.value)}</>;
}

export function Loading() {
  return (
    <p class="notice loading" role="status">
      Loading…
    </p>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="notice">{children}</p>;
}

/** Says why something that the visitor asked for failed; nothing without an error. */
export function Failed({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  return (
    <span role="alert" class="loss">
      {error instanceof Error ? error.message : "It failed"}
    </span>
  );
}

/** How something is, in a word with a border: more than a colour. */
export function Badge({
  kind,
  children,
}: {
  readonly kind: "good" | "bad" | "plain";
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

interface FailureProperties {
  readonly error: unknown;
  readonly retry: () => void;
}

/** Says what went wrong and what to do. */
export function Failure({ error, retry }: FailureProperties) {
  if (error instanceof ConnectionError) return <Unreachable retry={retry} />;
  if (!(error instanceof MetricsError)) return <Notice title="This page failed" retry={retry} />;
  switch (error.code) {
    case "Insufficient Credits":
      return (
        <Notice title="No credits left" retry={retry}>
          Each page costs a credit for each request, and the account has not enough for this one.
          Ask the operator of the service for more; pages that you have seen are still there when
          you go back.
        </Notice>
      );
    case "Forbidden":
      return <Notice title="This key may not read this page">{error.message}</Notice>;
    case "Too Many Requests":
      return (
        <Notice title="Too many requests" retry={retry}>
          {error.message}
        </Notice>
      );
    default:
      return error.status === 404 ? (
        <Notice title="Not found" retry={retry}>
          {error.message}. It may have another name, or not be observed yet.{" "}
          <a href="/channels">All channels</a>, <a href="/users">all users</a>
        </Notice>
      ) : (
        <Notice
          title={error.status >= 500 ? "The service failed" : "That is not possible"}
          retry={retry}
        >
          {error.message}
          {error.requestId !== null && (
            <>
              {" "}
              Its operator finds the request by <code>{error.requestId}</code>.
            </>
          )}
        </Notice>
      );
  }
}

function Unreachable({ retry }: { readonly retry: () => void }) {
  return navigator.onLine ? (
    <Notice title="The service does not answer" retry={retry}>
      It may be restarting, or something between here and there fails.
    </Notice>
  ) : (
    <Notice title="You are offline" retry={retry}>
      The page can be loaded again once there is a connection.
    </Notice>
  );
}

function Notice({
  title,
  retry,
  children,
}: {
  readonly title: string;
  readonly retry?: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class="notice" role="alert">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {retry !== undefined && <Button label="Try again" onClick={retry} />}
    </section>
  );
}
