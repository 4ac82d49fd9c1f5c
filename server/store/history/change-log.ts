/**
 * The change log: each write of observations records, in its transaction, the cache tags of its
 * changes. Response caches of all processes read it, and `writeOptimistically()` detects by it that
 * another process wrote in between.
 * A cache tag is the name of something that cached responses depend on.
 */
import type { Row } from "@libsql/client";
import type { OwnerKind } from "../../../core/kinds.ts";
import type { Statement } from "../database/database.ts";

/** The changes since a reader's last known change. */
export interface ChangeSet {
  /** The number of the last change. */
  readonly sequence: number;
  /** `undefined` if unknown, so that anything may have changed. */
  readonly tags: readonly string[] | undefined;
}

/** The tag of a channel or user with all items. */
export const createOwnerTag = (kind: OwnerKind, id: string) => `${kind} ${id}`;

/** The tag of the list of all channels, and of which channel has a username; and that of all users. */
export const LIST_TAGS: Readonly<Record<OwnerKind, string>> = {
  channel: "channels",
  user: "users",
};

/** The sequence number of the last change, as SQL; 0 if there is none. */
export const LAST_SEQUENCE = "ifnull((SELECT max(sequence) FROM changes), 0)";

const SELECT_CHANGES = `
  SELECT
    ${LAST_SEQUENCE} AS sequence,
    (SELECT json_group_array(json(tags)) FROM changes WHERE sequence > ?1) AS tags`;

/** Selects the changes after a sequence number; `undefined` selects only the last number. */
export const selectChanges = (since: number | undefined): Statement => ({
  sql: SELECT_CHANGES,
  args: [since ?? null],
});

export function parseChanges(row: Row | undefined, since: number | undefined): ChangeSet {
  const sequence = Number(row?.["sequence"]);
  if (sequence === since) return { sequence, tags: [] };
  const tagLists: (string[] | null)[] = JSON.parse(String(row?.["tags"]));
  const isComplete =
    since !== undefined && tagLists.length === sequence - since && !tagLists.includes(null);
  return { sequence, tags: isComplete ? tagLists.flatMap((tags) => tags ?? []) : undefined };
}
