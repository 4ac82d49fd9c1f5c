/** Addresses: paths of the dashboard, fragments of the administrator's page; follows links. */
import { options } from "preact";
import { useEventValue } from "./state-hooks.ts";

/** The path below which the service is, without a slash at its end. Paths in this code lack it. */
const PATH_PREFIX = document.documentElement.dataset["prefix"] ?? "";

/** Adds the prefix to a path of the service; changes no other address. */
export const addPrefix = (href: string): string =>
  href.startsWith("/") ? PATH_PREFIX + href : href;

// Each link gets the prefix when it is created, so none can lack it.
options.vnode = ({ type, props }) => {
  if (type === "a" && "href" in props) props.href = addPrefix(String(props.href));
};

/** The name under which something is stored: services at one origin share its storage. */
export const createStorageName = (name: string): string => name + PATH_PREFIX;

/** Where a tab keeps its API key. The administrator's page leaves a session there. */
export const KEY_STORAGE = createStorageName("apiKey");

const notify = () => dispatchEvent(new PopStateEvent("popstate"));

export function useAddress(): { readonly path: string; readonly query: URLSearchParams } {
  const href = useEventValue(window, "popstate", () => location.pathname + location.search);
  const { pathname, searchParams: query } = new URL(href, location.origin);
  return { path: pathname.slice(PATH_PREFIX.length), query };
}

/**
 * Changes parameters of the address; an empty value removes its parameter.
 *
 * @param options With `isReplaced`, going back does not undo the change.
 */
export function setParameters(
  changes: Readonly<Record<string, string>>,
  { isReplaced = false } = {},
): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  // A query may have colons, which times have.
  url.search = url.search.replaceAll("%3A", ":");
  if (url.href === location.href) return;
  if (isReplaced) {
    history.replaceState(history.state, "", url);
  } else {
    history.replaceState({ scrollY }, "");
    history.pushState({ scrollY }, "", url);
  }
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
    // The API reference and the administrator's page are other documents.
    const path = link.pathname.slice(PATH_PREFIX.length);
    if (!link.pathname.startsWith(`${PATH_PREFIX}/`) || /^\/(?:swagger|admin)/.test(path)) return;
    event.preventDefault();
    openPage(link.href);
  });
  addEventListener("popstate", ({ state }) => {
    const y: unknown = Object(state).scrollY;
    if (typeof y === "number") scrollBack(y, performance.now() + SCROLL_BACK_MAX_MS);
  });
}

/** Opens another page of the dashboard, as its link does. @param href A path, or a whole address. */
export function openPage(href: string): void {
  history.replaceState({ scrollY }, "");
  history.pushState(null, "", addPrefix(href));
  notify();
  scrollTo(0, 0);
}

/** Goes on with the result of a task, unless the visitor has opened another address meanwhile. */
export async function continueHere<Result>(
  task: Promise<Result>,
  goOn: (result: Result) => void,
): Promise<void> {
  const { href } = location;
  const result = await task;
  if (location.href === href) goOn(result);
}

/** How long scrolling back waits until a page that is opened again is as long as before. */
const SCROLL_BACK_MAX_MS = 1000;

/** Scrolls to where the visitor was, unless they have opened another page meanwhile. */
function scrollBack(y: number, deadline: number): void {
  const { href } = location;
  requestAnimationFrame((now) => {
    if (location.href !== href) return;
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

/** Splits names of a parameter at commas. Leaves out repeated names, which would cost again. */
export const splitNames = (text: string | null): string[] => {
  const names = (text ?? "").split(",").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "");
};

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
