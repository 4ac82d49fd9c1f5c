/** Entity tags: whether a client has an answer already. */

/** Whether an `If-None-Match` names an entity tag. */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === etag || tag === "*");
}
