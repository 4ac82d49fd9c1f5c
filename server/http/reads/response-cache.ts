/** Caches responses until their data changes or their validity ends; requests share a rendering. */
import { LRUCache } from "lru-cache";
import type { ChangeSet } from "../../store/history/change-log.ts";
import { isFresh, type RenderedResponse } from "./rendered-response.ts";

const CACHE_MAX_BYTES = 16 * 1_048_576;
const ENTRY_MAX_SHARE = 1 / 2;
const ENTRY_OVERHEAD_BYTES = 1024;

export function createResponseCache(maxBytes = CACHE_MAX_BYTES) {
  const keysByTag = new Map<string, Set<string>>();
  const pending = new Map<string, { sequence: number; response: Promise<RenderedResponse> }>();
  const reads = { hit: 0, miss: 0 };
  let latestSequence: number | undefined;
  const entries = new LRUCache<string, RenderedResponse>({
    maxSize: maxBytes,
    maxEntrySize: Math.ceil(maxBytes * ENTRY_MAX_SHARE),
    // A character of a text takes one or two bytes.
    sizeCalculation: ({ body }, key) =>
      (typeof body === "string" ? 2 * body.length : body.length) +
      ENTRY_OVERHEAD_BYTES +
      key.length,
    dispose(response, key) {
      response.isInvalidated = true;
      for (const tag of response.tags) {
        const keys = keysByTag.get(tag);
        keys?.delete(key);
        if (keys?.size === 0) keysByTag.delete(tag);
      }
    },
  });

  function get(key: string, now: () => number): RenderedResponse | undefined {
    const response = entries.get(key);
    if (response === undefined || isFresh(response, now)) return response;
    entries.delete(key);
    return undefined;
  }

  /**
   * Stores a response that was read after the change `sequence`, unless there is a newer change.
   * Nothing is stored before the first `invalidate()`.
   */
  function set(key: string, response: RenderedResponse, sequence: number): void {
    if (sequence !== latestSequence) return;
    entries.set(key, response);
    if (!entries.has(key)) return;
    for (const tag of response.tags) {
      const keys = keysByTag.get(tag);
      if (keys === undefined) keysByTag.set(tag, new Set([key]));
      else keys.add(key);
    }
  }

  return {
    get,
    set,

    /** How many reads found their response before their debit, and how many did not. */
    reads,

    /** What the cache has now. */
    readUse: () => ({ entries: entries.size, bytes: entries.calculatedSize }),

    /** Renders and stores a response. Requests with the same key and sequence share it. */
    load(
      key: string,
      sequence: number,
      render: () => Promise<RenderedResponse>,
    ): Promise<RenderedResponse> {
      const running = pending.get(key);
      if (running?.sequence === sequence) return running.response;
      const response = render().then((rendered) => {
        set(key, rendered, sequence);
        return rendered;
      });
      const started = { sequence, response };
      pending.set(key, started);
      return response.finally(() => {
        if (pending.get(key) === started) pending.delete(key);
      });
    },

    invalidate({ sequence, tags }: Pick<ChangeSet, "sequence" | "tags">): void {
      latestSequence = sequence;
      if (tags === undefined) return entries.clear();
      for (const tag of tags) {
        for (const key of keysByTag.get(tag) ?? []) entries.delete(key);
      }
    },
  };
}
