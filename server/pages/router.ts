/** Addresses: paths of the dashboard, fragments of the administrator's page; follows links. */
import { useEventValue } from "./state-hooks.ts";

const notify = () => dispatchEvent(new PopStateEvent("popstate"));

export function useAddress(): { readonly path: string; readonly query: URLSearchParams } {
  const href = useEventValue(window, "popstate", () => location.pathname + location.search);
  const { pathname: path, searchParams: query } = new URL(href, location.origin);
  return { path, query };
}

/** Changes parameters of the address; an empty value removes its parameter. */
export function setParameters(changes: Readonly<Record<string, string>>): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history.replaceState(null, "", url);
  notify();
}

/** Finds the link of a click, and whether the click opens it in this tab. */
export function findLink({ target, type, ctrlKey, metaKey, shiftKey }: MouseEvent) {
  const link = target instanceof Element ? target.closest("a") : null;
  return { link, isPlain: type === "click" && !ctrlKey && !metaKey && !shiftKey };
}

/** Follows links to pages without loading a document. Going back restores the scroll position. */
export function followLinks(): void {
  document.addEventListener("click", (event) => {
    const { link, isPlain } = findLink(event);
    if (!isPlain || link?.origin !== location.origin || link.hash !== "") return;
    // The API reference is another document.
    if (link.pathname.startsWith("/swagger")) return;
    event.preventDefault();
    history.replaceState({ scrollY }, "");
    history.pushState(null, "", link.href);
    notify();
    scrollTo(0, 0);
  });
  addEventListener("popstate", ({ state }) => {
    const y: unknown = Object(state).scrollY;
    if (typeof y === "number") scrollBack(y, performance.now() + SCROLL_BACK_MAX_MS);
  });
}

/** How long scrolling back waits until a page that is opened again is as long as before. */
const SCROLL_BACK_MAX_MS = 1000;

function scrollBack(y: number, deadline: number): void {
  requestAnimationFrame((now) => {
    scrollTo(0, y);
    if (scrollY < Math.floor(y) && now < deadline) scrollBack(y, deadline);
  });
}

export const createPath = (...parts: readonly string[]): string =>
  `/${parts.map(encodeURIComponent).join("/")}`;

export const splitPath = (path: string): string[] => (path.match(/[^/]+/g) ?? []).map(decode);

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
  const [path = "", query] = location.hash.slice(1).split("?");
  const [part = "", name] = path.split("/").map(decode);
  return { part, name, query: new URLSearchParams(query) };
}
