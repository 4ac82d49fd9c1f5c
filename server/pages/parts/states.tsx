/** Shows the state of a page (loading, empty, failed with a reason), and other states as badges. */
import type { ComponentChildren } from "preact";
import { ConnectionError, MetricsError } from "../../../core/client/mod.ts";
import type { Read } from "../state-hooks.ts";
import { BuyCredits, shop } from "./buy-credits.tsx";
import { Button } from "./form.tsx";

export function Reading<Value>({
  read: { value, error, reload },
  children,
}: Readonly<{ read: Read<Value>; children: (value: Value) => ComponentChildren }>) {
  if (error === undefined) return value === undefined ? <Loading /> : <>{children(value)}</>;
  const [title, text] = describeFailure(error);
  const isFinal = error instanceof MetricsError && error.code === "Forbidden";
  return (
    <section class="notice" role="alert">
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {!isFinal && <Button label="Try again" onClick={reload} />}
    </section>
  );
}

export const Loading = () => (
  <p class="notice loading" role="status">
    Loading…
  </p>
);

/** Says that there is nothing, and offers the next step. */
export const Empty = ({
  title,
  action,
  children,
}: Readonly<{ title?: string; action?: ComponentChildren; children: ComponentChildren }>) => (
  <section class="notice">
    {title !== undefined && <h2>{title}</h2>}
    <p>{children}</p>
    {action !== undefined && <p class="row">{action}</p>}
  </section>
);

export const Failed = ({ error }: { readonly error: unknown }) =>
  error === undefined ? null : (
    <span role="alert" class="loss">
      {error instanceof Error ? error.message : "It failed"}
    </span>
  );

/** A state as a word with a border, because not everybody can see colours. */
export const Badge = ({
  kind,
  word,
}: Readonly<{ kind: "good" | "bad" | "plain"; word: string }>) => (
  <span class={`badge ${kind}`}>{word}</span>
);

function describeFailure(error: unknown): readonly [title: string, text?: ComponentChildren] {
  if (error instanceof ConnectionError) {
    return navigator.onLine
      ? [
          "The service does not answer",
          "It may be restarting, or something between here and there fails.",
        ]
      : ["You are offline", "The page can be loaded again once there is a connection."];
  }
  if (!(error instanceof MetricsError)) return ["This page failed"];
  const { code, status, message, requestId } = error;
  if (code === "Insufficient Credits") return ["No credits left", <NoCredits />];
  if (code === "Forbidden") return ["This key may not read this page", message];
  if (code === "Too Many Requests") return ["Too many requests", message];
  if (status === 404) {
    return [
      "Not found",
      <>
        {message}. It may have another name, or not be observed yet.{" "}
        <a href="/channels">All channels</a>, <a href="/users">all users</a>
      </>,
    ];
  }
  const request = requestId !== null && [
    " Its operator finds the request by ",
    <code>{requestId}</code>,
    ".",
  ];
  return [status >= 500 ? "The service failed" : "That is not possible", [message, request]];
}

const NoCredits = () => (
  <>
    Each page costs a credit for each request, and the account has not enough for this one.{" "}
    <BuyCredits /> {shop.use().url === null && "Ask the operator of the service for more."} Pages
    that you have seen are still there when you go back.
  </>
);
