/** The declaration of a source: its settings, and the names of entities that it accepts. */
import type { Platform } from "./targets.ts";
import type { Setting } from "../settings.ts";

/** A platform's API that the service can poll. */
export interface Source {
  /** The name of its folder, which settings, statuses and logs use. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly platform: Platform;
  /** The setting of its URL, which is named after the source. */
  readonly url: Required<Pick<Setting, "default" | "description">>;
  /** The setting of its credential; absent for a source that needs none. */
  readonly credential?: Pick<Setting, "name" | "description">;
  /**
   * Finds out which channel a person means. Only a source of the video platform needs it.
   *
   * @returns A handle that begins with `@` and is compared without case, or an identifier.
   * @throws {DomainError} `Invalid Request`.
   */
  parseChannelName?(text: string): string;
  /** Explains why it cannot have a username; `undefined` if it can. */
  explainInvalidUsername?(username: string): string | undefined;
}
