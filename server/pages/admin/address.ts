/** The addresses of the parts of the page: fragments, which a reload keeps and no server sees. */
import { decode } from "../router.ts";
import { useEventValue } from "../store.ts";

/** The parts of a fragment such as `#accounts/acme?days=90`. */
export interface AdminAddress {
  readonly part: string;
  /** The name of an account; `undefined` for the whole part. */
  readonly name: string | undefined;
  readonly query: URLSearchParams;
}

/**
 * Creates a fragment.
 *
 * @param parameters Empty ones are left out.
 */
export function createFragment(
  part: string,
  name?: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const path = name === undefined ? part : `${part}/${encodeURIComponent(name)}`;
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
  return query.size === 0 ? `#${path}` : `#${path}?${query}`;
}

/** The fragment that shows an account. */
export const createAccountFragment = (name: string): string => createFragment("accounts", name);

function parseFragment(): AdminAddress {
  const [, part = "", name, query = ""] =
    /^#?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(location.hash) ?? [];
  return {
    part,
    name: name === undefined ? undefined : decode(name),
    query: new URLSearchParams(query),
  };
}

/** The address; the component renders again when it changes. */
export const useAdminAddress = (): AdminAddress =>
  useEventValue(window, "hashchange", parseFragment);

/** Goes to a fragment, in the place of the one before. */
export function replaceFragment(fragment: string): void {
  location.replace(fragment);
}
