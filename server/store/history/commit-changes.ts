/** What a commit of debits lists about the changes, for the caches of its process. */
import type { Row } from "@libsql/client";
import type { Statement } from "../database/database.ts";
import { changeColumnsSql, createChangeSet, LAST_PUBLISHED, type ChangeSet } from "./change-log.ts";

/** The changes that a commit of debits lists. */
export interface CommitChangeSet extends ChangeSet {
  /**
   * The last change of entities that is published here, by its number in their own database; 0 if
   * there is none. See published-changes.ts.
   */
  readonly published: number;
}

/** The columns of what a commit lists, which {@link parseCommitChanges} reads. */
export const commitColumnsSql = (since: string): string =>
  `${changeColumnsSql(since)},\n    ${LAST_PUBLISHED} AS published`;

const SELECT_COMMIT_CHANGES = `SELECT ${commitColumnsSql("?1")}`;

export const selectCommitChanges = (since: number | undefined): Statement => ({
  sql: SELECT_COMMIT_CHANGES,
  args: [since ?? null],
});

/** The columns of {@link commitColumnsSql}. */
export interface CommitColumns {
  readonly sequence: number;
  /** The tags of each change since the last known one, as JSON. */
  readonly tags: string;
  readonly published: number;
}

export const readCommitColumns = (row: Row | undefined): CommitColumns => ({
  sequence: Number(row?.["sequence"]),
  tags: String(row?.["tags"]),
  published: Number(row?.["published"]),
});

export function parseCommitChanges(
  { sequence, tags, published }: CommitColumns,
  since: number | undefined,
): CommitChangeSet {
  if (sequence === since) return { sequence, published, tags: [], keys: [] };
  return { ...createChangeSet({ sequence, tagLists: JSON.parse(tags) }, since), published };
}
