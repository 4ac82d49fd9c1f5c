/** The names by which comparisons find owners: a comma separates them. */
import type { ListedOwner } from "./owner-pages.ts";

export const isComparedName = (name: string): boolean => !name.includes(",");

/** Finds the name by which a comparison finds an owner; `undefined` if each has a comma. */
export const findComparedName = ({
  id,
  username,
}: Pick<ListedOwner, "id" | "username">): string | undefined =>
  [id, ...(username === null ? [] : [username])].find(isComparedName);
