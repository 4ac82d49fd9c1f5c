/** Keeps responses, so that they are sent again only if they changed. */

/** A response as JSON, and the tag that asks whether it changed. */
export interface CachedResponse {
  readonly etag: string;
  readonly text: string;
}

/** Responses by their URL. */
export interface ClientCache {
  get(url: string): CachedResponse | undefined;
  /** Keeps a response that has a tag. */
  set(url: string, etag: string | null, text: string): void;
}

/** Creates a cache; it drops the response first that was read longest ago. */
export function createClientCache(maxEntries: number): ClientCache {
  const entries = new Map<string, CachedResponse>();
  return {
    get: (url) => entries.get(url),
    set(url, etag, text) {
      if (maxEntries === 0 || etag === null) return;
      entries.delete(url);
      entries.set(url, { etag, text });
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
  };
}
