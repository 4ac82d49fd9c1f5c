/** Who a channel or a user is: the names, since when, and the description. */
import type { ComponentChildren } from "preact";
import { Instant, Text } from "./figures.tsx";
import { Heading } from "./heading.tsx";

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
