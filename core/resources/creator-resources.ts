/** Creates the resources of the monitoring list. */
import type { Creator } from "../creators.ts";
import type { CreatorResult } from "./creators.ts";

/**
 * Creates the response to adding or removing a creator.
 *
 * @param creator As the list spells it.
 * @param total The size of the list after the operation.
 *
 * @example
 * const creator = { creator: "nasa", platform: "microblog" };
 * createCreatorResult(creator, 3, "added").message; // "Creator nasa added to the monitoring list"
 */
export function createCreatorResult(
  { creator, platform }: Creator,
  total: number,
  change: "added" | "removed",
): CreatorResult {
  const preposition = change === "added" ? "to" : "from";
  const message = `Creator ${creator} ${change} ${preposition} the monitoring list`;
  return { message, creator, platform, total_creators: total };
}
