/** What the components share: the session, the address, and reads that end with their component. */
import { useEffect, useState } from "preact/hooks";
import type { Client, Listing, Result } from "../../core/client/mod.ts";
import { getClient, getSession, readOnce, subscribe, type SessionState } from "./session.ts";

/** The session; the component renders again when it changes. */
export function useSession(): SessionState {
  const [session, setSession] = useState(getSession);
  useEffect(() => subscribe(() => setSession(getSession())), []);
  return session;
}

/** A read: it is going on, has failed, or has a value. */
export type Read<Value> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown; retry(): void }
  | { readonly state: "ready"; readonly value: Value };

/** Awaits a promise for as long as the component is there. */
function useAwaited<Value>(name: string, start: () => Promise<Value>): Read<Value> {
  const [read, setRead] = useState<Read<Value> & { readonly name?: string }>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setRead({ state: "loading" });
    start().then(
      (value) => isCurrent && setRead({ state: "ready", value, name }),
      (error: unknown) => {
        const retry = () => {
          setRead({ state: "loading" });
          setAttempt((count) => count + 1);
        };
        if (isCurrent) setRead({ state: "failed", error, retry, name });
      },
    );
    return () => void (isCurrent = false);
  }, [name, attempt]);
  // What is there may belong to the name before.
  return read.name === name ? read : { state: "loading" };
}

/**
 * Reads something from the service, once in this tab.
 *
 * @param name What is read: another name reads again.
 */
export function useRead<Body>(
  name: string,
  request: (client: Client) => Promise<Result<Body>>,
): Read<Body> {
  return useAwaited(name, () => readOnce(name, async () => (await request(getClient())).body));
}

/** Reads something that is free, anew whenever a page with it is opened. */
export function useFreeRead<Body>(
  name: string,
  request: (client: Client) => Promise<Result<Body>>,
): Read<Body> {
  return useAwaited(name, async () => (await request(getClient())).body);
}

/** A list as far as it was read. */
export interface ListedPages<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** How many items the list has, where the service says so. */
  readonly total: number | undefined;
  /** When the newest page was requested, in milliseconds since 1970 UTC. */
  readonly readAt: number;
  /** How many pages without an item there are at the end. */
  readonly emptyPages: number;
  readonly isLoading: boolean;
  readonly error: unknown;
  /** Reads the next pages, each for a credit. */
  readMore(options?: MoreOptions): void;
}

interface MoreOptions {
  /** How many pages are read at most; one unless told. */
  readonly pagesMax?: number;
  /** Reading ends with the page that has an item. */
  readonly isUntilItem?: boolean;
}

/** A list whose first page was read, and what reads the next ones. */
interface OpenList<Item, Page> {
  readonly iterator: AsyncIterator<Result<Page>>;
  readonly items: Item[];
  hasMore: boolean;
  total: number | undefined;
  readAt: number;
  emptyPages: number;
}

/**
 * Reads the first page of a list, and more pages when it is told to. Each page costs a credit.
 *
 * @param name Which list.
 */
export function usePages<Item, Page>(
  name: string,
  createListing: (client: Client) => Listing<Item, Page>,
  getItems: (page: Page) => readonly Item[],
  hasNext: (page: Page) => boolean,
  getTotal: (page: Page) => number | undefined = () => undefined,
): Read<ListedPages<Item>> {
  const [status, setStatus] = useState<{ isLoading: boolean; error: unknown }>({
    isLoading: false,
    error: undefined,
  });
  const readPage = async (list: OpenList<Item, Page>) => {
    const readAt = Date.now();
    const next = await list.iterator.next();
    list.readAt = readAt;
    if (next.done === true) {
      list.hasMore = false;
      return;
    }
    const page = next.value.body;
    const items = getItems(page);
    list.items.push(...items);
    list.emptyPages = items.length === 0 ? list.emptyPages + 1 : 0;
    list.hasMore = hasNext(page);
    list.total = getTotal(page);
  };
  const readPages = async (
    list: OpenList<Item, Page>,
    { pagesMax = 1, isUntilItem = false }: MoreOptions,
  ): Promise<void> => {
    await readPage(list);
    if (!list.hasMore || pagesMax === 1 || (isUntilItem && list.emptyPages === 0)) return;
    await readPages(list, { pagesMax: pagesMax - 1, isUntilItem });
  };
  const opened = useAwaited(name, () =>
    readOnce(name, async () => {
      const iterator = createListing(getClient()).pages()[Symbol.asyncIterator]();
      const list: OpenList<Item, Page> = {
        iterator,
        items: [],
        hasMore: false,
        total: undefined,
        readAt: 0,
        emptyPages: 0,
      };
      await readPage(list);
      return list;
    }),
  );
  if (opened.state !== "ready") return opened;
  const list = opened.value;
  const readMore = (options: MoreOptions = {}) => {
    setStatus({ isLoading: true, error: undefined });
    readPages(list, options).then(
      () => setStatus({ isLoading: false, error: undefined }),
      (error: unknown) => setStatus({ isLoading: false, error }),
    );
  };
  return { state: "ready", value: { ...list, ...status, readMore } };
}
