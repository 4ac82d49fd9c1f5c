/** Hooks of the dashboard that read the API. A read ends with its component. */
import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../core/client/mod.ts";
import type { PageSource } from "./owners/page-source.ts";
import { useProgress, type TaskProgress } from "./store.ts";
import { getClient, readOnce } from "./session.ts";

/** A read: it is going on, has a value, or has failed. */
export interface Read<Value> {
  readonly value?: Value;
  readonly error?: unknown;
  retry(): void;
}

/** Reads something that is free, anew whenever a page with it is opened or the name changes. */
export function useFreeRead<Value>(
  name: string,
  request: (client: Client) => Promise<Value>,
): Read<Value> {
  const [state, setState] = useState<{ name?: string; value?: Value; error?: unknown }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setState({});
    request(getClient()).then(
      (value) => isCurrent && setState({ name, value }),
      (error: unknown) => isCurrent && setState({ name, error }),
    );
    return () => void (isCurrent = false);
  }, [name, attempt]);
  // The state may belong to the name before.
  return { ...(state.name === name && state), retry: () => setAttempt(attempt + 1) };
}

/**
 * Reads something from the service, once in this tab.
 *
 * @param name The name of the value: another name reads another value.
 */
export function useRead<Value>(
  name: string,
  request: (client: Client) => Promise<Value>,
): Read<Value> {
  return useFreeRead(name, (client) => readOnce(name, () => request(client)));
}

/** A list whose first page was read. */
interface OpenList<Item> {
  readonly readPage: PageSource<Item>;
  items: readonly Item[];
  hasMore: boolean;
  /** How many items the list has, where the service says so. */
  total: number | undefined;
  /** When the newest page was requested, in milliseconds since 1970 UTC. */
  readAt: number;
  /** How many pages without an item there are at the end. */
  emptyPages: number;
}

/** A list as far as it was read. */
export interface ListedPages<Item> extends Readonly<OpenList<Item>>, TaskProgress {
  /** Reads the next pages, each for a credit. */
  readMore(options?: MoreOptions): void;
}

interface MoreOptions {
  /** The greatest number of pages to read; by default, one. */
  readonly pagesMax?: number;
  /** Reading ends with the page that has an item. */
  readonly isUntilItem?: boolean;
}

async function readNextPage<Item>(list: OpenList<Item>): Promise<void> {
  const readAt = Date.now();
  const page = await list.readPage();
  list.readAt = readAt;
  list.hasMore = page?.hasMore === true;
  if (page === undefined) return;
  list.items = [...list.items, ...page.items];
  list.emptyPages = page.items.length === 0 ? list.emptyPages + 1 : 0;
  list.total = page.total;
}

async function readNextPages<Item>(
  list: OpenList<Item>,
  { pagesMax = 1, isUntilItem = false }: MoreOptions,
): Promise<void> {
  for (let count = 0; count < pagesMax; count++) {
    await readNextPage(list);
    if (!list.hasMore || (isUntilItem && list.emptyPages === 0)) return;
  }
}

/**
 * Reads the first page of a list, and more pages on demand. Each page costs a credit.
 *
 * @param name Which list.
 */
export function usePages<Item>(
  name: string,
  open: (client: Client) => PageSource<Item>,
): Read<ListedPages<Item>> {
  const { progress, follow } = useProgress();
  const opened = useRead(name, async (client) => {
    const first = { items: [], hasMore: false, total: undefined, readAt: 0, emptyPages: 0 };
    const list: OpenList<Item> = { readPage: open(client), ...first };
    await readNextPage(list);
    return list;
  });
  const { value: list, ...read } = opened;
  if (list === undefined) return read;
  const readMore = (options: MoreOptions = {}) => follow(readNextPages(list, options));
  return { ...read, value: { ...list, ...progress, readMore } };
}
