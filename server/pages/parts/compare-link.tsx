/** Leads to a comparison: what was compared before in this tab, and one more. */
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";

export type ComparedKind = "channels" | "users";

const compared: Record<ComparedKind, readonly string[]> = { channels: [], users: [] };

/** Remembers what is compared. */
export function rememberCompared(kind: ComparedKind, names: readonly string[]): void {
  compared[kind] = names;
}

export function CompareLink({
  kind,
  name,
}: {
  readonly kind: ComparedKind;
  readonly name: string;
}) {
  const others = compared[kind].filter((other) => other !== name);
  const names = [...others.slice(1 - COMPARISON_MAX_NAMES), name];
  const query = new URLSearchParams({ kind, names: names.join(",") });
  return (
    <a class="button" href={`/compare?${query}`}>
      {names.length === 1 ? "Compare" : `Compare with ${names.length - 1} more`}
    </a>
  );
}
