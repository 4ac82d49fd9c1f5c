/** Hooks that read the API with the key of the tab: each read once, and lists page by page. */
import type { Client } from "../../core/client/mod.ts";
import { getClient } from "./session.ts";
import { useProgress, useReading, type Read } from "./state-hooks.ts";

/** Reads a value that costs credits; a tab reads each name once. */
export const useRead = <Value>(
  name: string,
  request: (client: Client) => Promise<Value>,
): Read<Value> => useReading(name, () => readOnce(name, request));

/** The reads of each client by name: going back to a page costs nothing. */
const reads = new WeakMap<Client, Map<string, Promise<unknown>>>();

function readOnce<Value>(name: string, request: Parameters<typeof useRead<Value>>[1]) {
  const client = getClient();
  const known = reads.get(client) ?? new Map<string, Promise<unknown>>();
  reads.set(client, known);
  const before = known.get(name);
  // A name has one type of value.
  if (before !== undefined) return before as Promise<Value>;
  const reading = request(client);
  known.set(name, reading);
  reading.catch(() => known.delete(name));
  return reading;
}

interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly total?: number | undefined;
}

/** Reads the next page, for a credit; `undefined` after the last. A call after an error retries. */
export type PageSource<Item> = () => Promise<ListPage<Item> | undefined>;

interface OpenList<Item> extends ListPage<Item> {
  /** When the newest page was requested, in milliseconds since 1970 UTC. */
  readonly readAt: number;
  readonly emptyPages: number;
}

type Progress = ReturnType<typeof useProgress>["progress"];

export interface ListedPages<Item> extends OpenList<Item>, Progress {
  /** Reads the next pages, for a credit each; `isUntilItem` stops at a page that has an item. */
  readMore(options?: MoreOptions): void;
}

type MoreOptions = Readonly<{ pagesMax?: number; isUntilItem?: boolean }>;

export function usePages<Item>(
  name: string,
  open: (client: Client) => PageSource<Item>,
): Read<ListedPages<Item>> {
  const { progress, follow } = useProgress();
  const { value: opened, ...read } = useRead(name, async (client) => {
    const list = openList(open(client));
    await list.readMore();
    return list;
  });
  if (opened === undefined) return read;
  const readMore = (options?: MoreOptions) => follow(opened.readMore(options));
  return { ...read, value: { ...opened.get(), ...progress, readMore } };
}

function openList<Item>(readPage: PageSource<Item>) {
  let list: OpenList<Item> = { items: [], hasMore: true, readAt: 0, emptyPages: 0 };
  return {
    get: () => list,
    async readMore({ pagesMax = 1, isUntilItem = false }: MoreOptions = {}): Promise<void> {
      for (let count = 0; count < pagesMax; count++) {
        const readAt = Date.now();
        const page = (await readPage()) ?? { ...list, items: [], hasMore: false };
        const emptyPages = page.items.length === 0 ? list.emptyPages + 1 : 0;
        list = { ...page, items: [...list.items, ...page.items], readAt, emptyPages };
        if (!list.hasMore || (isUntilItem && emptyPages === 0)) return;
      }
    },
  };
}
