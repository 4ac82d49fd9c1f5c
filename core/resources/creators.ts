/** The resources of `/api/creators`. */
import type { CreatorPlatform } from "../creators.ts";

/** The body of `PATCH` and `DELETE /api/creators`. */
export interface CreatorRequest {
  /** A username without the @ symbol. */
  creator: string;
  /** Where the creator is. */
  platform: CreatorPlatform;
}

/** The response to adding or removing a creator. */
export interface CreatorResult extends CreatorRequest {
  /** What was done, for people. */
  message: string;
  /** The size of the list after the operation. */
  total_creators: number;
}

/** A creator of the monitoring list, and the state of collecting its data. */
export interface ListedCreator extends CreatorRequest {
  /** When the creator was added. */
  added_at: string;
  /** When the creator was last observed. */
  last_success: string | null;
  /** When an observation last failed; `null` if it has succeeded since. */
  last_failure: string | null;
  /** Why it failed. */
  failure: string | null;
  /** When the creator is observed next. */
  next_due: string | null;
}

/** The response of `GET /api/creators`, sorted by platform and username. */
export interface CreatorList {
  /** All creators. */
  creators: ListedCreator[];
  /** The size of the list. */
  total_creators: number;
}
