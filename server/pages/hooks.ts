/**
 * Hooks that read the API with the key of the tab: each read once, lists page by page, and
 * histories by a plan that stays.
 */
import { useMemo } from "preact/hooks";
import type { Client } from "../../core/client/mod.ts";
import { planHistory, type Range } from "./ranges.ts";
import { getClient } from "./session.ts";
import { useProgress, useReading, type Read } from "./state-hooks.ts";

/**
 * The kind of a read, and all that its value depends on. They are apart: identifiers have spaces,
 * so two reads can have the same text.
 */
export type ReadName = readonly [kind: string, ...parameters: unknown[]];

type Request<Value> = (client: Client) => Promise<Value>;

/** Reads a value that costs credits; a tab reads each name once. */
export const useRead = <Value>(name: ReadName, request: Request<Value>): Read<Value> =>
  useReading(JSON.stringify(name), () => readOnce(getClient(), name, request));

/** The reads of each client by name: going back to a page costs nothing. */
const reads = new WeakMap<Client, Map<string, Promise<unknown>>>();

/** Reads a value, or takes it from an earlier read of this name. After an error, it reads again. */
export function readOnce<Value>(
  client: Client,
  name: ReadName,
  request: Request<Value>,
): Promise<Value> {
  const key = JSON.stringify(name);
  const known = reads.get(client) ?? new Map<string, Promise<unknown>>();
  reads.set(client, known);
  const before = known.get(key);
  // A name has one type of value.
  if (before !== undefined) return before as Promise<Value>;
  const reading = request(client);
  known.set(key, reading);
  reading.catch(() => known.delete(key));
  return reading;
}

/**
 * Plans the history of a range, and keeps the plan while the range and what is read stay: a page
 * that is open past midnight must not read, and pay, again because its visitor zooms.
 *
 * @param ids What is read.
 */
export const useHistoryPlan = (ids: readonly unknown[], range: Range, since?: number) =>
  useMemo(() => planHistory(range, Date.now(), since), [JSON.stringify(ids), range, since]);

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
  name: ReadName,
  open: (client: Client) => PageSource<Item>,
): Read<ListedPages<Item>> {
  const { progress, follow } = useProgress(JSON.stringify(name));
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
