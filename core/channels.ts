/** Names of channels: an identifier, or a username in any case. */
import { compareText, foldCase } from "./text.ts";

/** A channel that was observed, as far as names need it. */
export interface NamedChannel {
  /** The identifier. */
  readonly id: string;
  /** `null` if no source reported it. */
  readonly username: string | null;
  /** The newest observation, in milliseconds since 1970 UTC. */
  readonly observedAt: number;
}

/**
 * Finds the channel that a name means: the one with this identifier, else one with this username in
 * any case. Of several, it is the one observed last, then the one with the smaller identifier.
 *
 * @example
 * const channels = [{ id: "UC1", username: "NASA", observedAt: 0 }];
 * findChannel("nasa", channels)?.id; // "UC1"
 */
export function findChannel<Channel extends NamedChannel>(
  name: string,
  channels: Iterable<Channel>,
): Channel | undefined {
  const folded = foldCase(name);
  let found: Channel | undefined;
  for (const channel of channels) {
    const { id, username, observedAt } = channel;
    if (id === name) return channel;
    if (username === null || foldCase(username) !== folded) continue;
    const isNewer =
      found === undefined ||
      observedAt > found.observedAt ||
      // Stryker disable next-line EqualityOperator: no two channels have one identifier.
      (observedAt === found.observedAt && compareText(id, found.id) < 0);
    if (isNewer) found = channel;
  }
  return found;
}
