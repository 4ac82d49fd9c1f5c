/** What a read gives, and what it depends on: who keeps it asks later whether that has changed. */
import type { Span } from "../../core/growth.ts";

/** A body and how long it holds. */
export interface Reading<Body> {
  readonly body: Body;
  /** It holds until one of these is observed again. */
  readonly subjects: readonly string[];
  /** The instants between which the clock alone leaves it as it is, both included. */
  readonly during?: Span;
  /** Whether observations were left out of a history. */
  readonly isThinned?: boolean;
}

/** A user with all that is theirs. @param id The username in lower case. */
export const userSubject = (id: string) => `user ${id}`;

/** A channel with all that is its own. */
export const channelSubject = (id: string) => `channel ${id}`;

/** Some channel: what the list shows, and whom a username means. */
export const CHANNELS_SUBJECT = "channels";
