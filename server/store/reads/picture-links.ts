/** Reads the link of the picture of an entity. */
import { PICTURE_FIELDS, type PicturedKind } from "../../../core/kinds.ts";
import { foldCase } from "../../../core/text.ts";
import type { DatabaseReads } from "../database/database.ts";

/** The link is `null` for an entity without a picture, or that was not observed. */
export function createPictureLinkRead(database: DatabaseReads) {
  return async (kind: PicturedKind, id: string): Promise<string | null> => {
    const link = await database.queryJson<string | null>(
      `SELECT json_quote(${PICTURE_FIELDS[kind]}) FROM ${kind}s WHERE id = ?`,
      [kind === "user" ? foldCase(id) : id],
    );
    return link ?? null;
  };
}
