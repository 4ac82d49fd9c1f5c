/**
 * The addresses of the pages, as paths, and of the administrator's page, as fragments. Links are
 * followed without loading a new document, and going back restores the scroll position.
 */
import { useEventValue } from "./store.ts";

function navigate(href: string, { isReplaced = false } = {}): void {
  if (isReplaced) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
}

export function useAddress(): { readonly path: string; readonly query: URLSearchParams } {
  const href = useEventValue(window, "popstate", () => location.pathname + location.search);
  const { pathname: path, searchParams: query } = new URL(href, location.origin);
  return { path, query };
}

/** Changes parameters of the address; an empty value removes one. */
export function setParameters(changes: Readonly<Record<string, string>>): void {
  const { pathname, searchParams } = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") searchParams.delete(name);
    else searchParams.set(name, value);
  }
  const query = searchParams.toString();
  navigate(query === "" ? pathname : `${pathname}?${query}`, { isReplaced: true });
}

export function followLinks(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (link === null || !isPlain || link.hasAttribute("download")) return;
    const { origin, pathname, search, hash } = new URL(link.href);
    const isPage =
      origin === location.origin && !/^\/(?:swagger|api|admin|metrics)\b/.test(pathname);
    if (!isPage || hash !== "") return;
    event.preventDefault();
    // Going back returns to the same place on the page.
    history.replaceState({ scrollY }, "");
    navigate(pathname + search);
    scrollTo(0, 0);
  });
  addEventListener("popstate", ({ state }) => {
    const y: unknown = Object(state).scrollY;
    if (typeof y === "number") scrollBack(y, performance.now() + SCROLL_BACK_MAX_MS);
  });
}

/** The time in which a page that is opened again has to become as long as it was. */
const SCROLL_BACK_MAX_MS = 1000;

function scrollBack(y: number, deadline: number): void {
  requestAnimationFrame((now) => {
    scrollTo(0, y);
    if (scrollY < Math.floor(y) && now < deadline) scrollBack(y, deadline);
  });
}

export const createPath = (...parts: readonly string[]): string =>
  `/${parts.map(encodeURIComponent).join("/")}`;

export const splitPath = (path: string): string[] =>
  path.replace(/\/$/, "").split("/").slice(1).map(decode);

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Creates a fragment such as `#accounts/acme?days=90`; empty parameters are left out. */
export function createFragment(
  parts: readonly string[],
  parameters: Readonly<Record<string, string>> = {},
): string {
  const path = parts.map(encodeURIComponent).join("/");
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
  return query.size === 0 ? `#${path}` : `#${path}?${query}`;
}

/** The part, name and query of the fragment. The component renders again when they change. */
export const useAdminAddress = () => useEventValue(window, "hashchange", parseFragment);

function parseFragment() {
  const [, part = "", name, query = ""] =
    /^#?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(location.hash) ?? [];
  return {
    part,
    name: name === undefined ? undefined : decode(name),
    query: new URLSearchParams(query),
  };
}
