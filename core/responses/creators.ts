/** Creates the resources of the monitoring list. */
import { getCreatorKey, type Creator } from "../creators.ts";
import type { CreatorList, CreatorResult, ListedCreator } from "../resources/generated/types.ts";
import { compareText } from "../text.ts";

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

/**
 * Creates the monitoring list, sorted by platform and by username regardless of case.
 *
 * @param creators All creators, in any order.
 *
 * @example
 * createCreatorList([]); // { creators: [], total_creators: 0 }
 */
export function createCreatorList(creators: Iterable<ListedCreator>): CreatorList {
  const sorted = Array.from(creators).toSorted((a, b) =>
    compareText(getCreatorKey(a), getCreatorKey(b)),
  );
  return { creators: sorted, total_creators: sorted.length };
}
