/** A link that compares an owner with those that this tab compared before. */
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import type { OwnerKind } from "../../../core/kinds.ts";
import type { OwnerPages } from "../owners/owner-pages.ts";

const compared: Record<OwnerKind, readonly string[]> = { channel: [], user: [] };

/** Remembers the names of a comparison. */
export function rememberCompared(kind: OwnerKind, names: readonly string[]): void {
  compared[kind] = names;
}

export function CompareLink({
  owner: { kind, path },
  name,
}: {
  readonly owner: OwnerPages;
  readonly name: string;
}) {
  const others = compared[kind].filter((other) => other !== name);
  const names = [...others.slice(1 - COMPARISON_MAX_NAMES), name];
  const query = new URLSearchParams({ kind: path, names: names.join(",") });
  return (
    <a class="button" href={`/compare?${query}`}>
      {names.length === 1 ? "Compare" : `Compare with ${names.length - 1} more`}
    </a>
  );
}
