/** The head of a page: its heading, and of a channel or a user the names, start and description. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Instant, Text } from "./figures.tsx";

/** A heading, which is also the title of the document. */
export function Heading({ text }: { readonly text: string }) {
  useEffect(() => void (document.title = `${text} · Creator metrics`), [text]);
  return (
    <h1>
      <Text value={text} />
    </h1>
  );
}

interface ProfileProperties {
  readonly name: string;
  readonly username: string;
  /** When the account began; `null` is unknown. */
  readonly since: string | null;
  readonly description: string | null;
  /** What else is said beside the username. */
  readonly children?: ComponentChildren;
  /** A link beside all that. */
  readonly action: ComponentChildren;
}

export function Profile({
  name,
  username,
  since,
  description,
  children,
  action,
}: ProfileProperties) {
  return (
    <>
      <Heading text={name} />
      <p class="muted">
        <Text value={username} />
        {children}
        {since !== null && (
          <>
            {" · since "}
            <Instant value={since} hasTime={false} />
          </>
        )}{" "}
        {action}
      </p>
      {description !== null && (
        <p class="description">
          <Text value={description} />
        </p>
      )}
    </>
  );
}
