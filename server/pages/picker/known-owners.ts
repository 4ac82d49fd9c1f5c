/** The channels and users that this tab has seen, to suggest them without another read. */
import type { OwnerKind } from "../../../core/kinds.ts";
import type { ListedOwner } from "../owners/owner-pages.ts";

/** A tab that goes through long lists forgets the owners that it saw first. */
const KNOWN_MAX = 1000;

const known: Readonly<Record<OwnerKind, Map<string, ListedOwner>>> = {
  channel: new Map(),
  user: new Map(),
};

/** Remembers an owner as the newest one, and returns it. */
export function rememberOwner(kind: OwnerKind, owner: ListedOwner): ListedOwner {
  const owners = known[kind];
  owners.delete(owner.id);
  owners.set(owner.id, owner);
  const [oldest] = owners.keys();
  if (owners.size > KNOWN_MAX && oldest !== undefined) owners.delete(oldest);
  return owner;
}

/** The name that people know an owner by; `id` if this tab has not seen it. */
export const getKnownName = (kind: OwnerKind, id: string): string =>
  known[kind].get(id)?.name ?? id;

/** Finds seen owners whose name, username or identifier has a text, in the order of names. */
export function findKnownOwners(kind: OwnerKind, text: string): readonly ListedOwner[] {
  const sought = text.trim().toLowerCase();
  return [...known[kind].values()]
    .filter(({ id, name, username }) =>
      [id, name, username ?? ""].some((value) => value.toLowerCase().includes(sought)),
    )
    .toSorted((a, b) => a.name.localeCompare(b.name));
}
