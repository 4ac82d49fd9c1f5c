/**
 * Finds pictures of entities: their links in the database, the pictures in a cache or outside. The
 * cache also remembers failures, so that a dead link costs one request outside in a while.
 */
import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";
import { DomainError } from "../../core/errors.ts";
import type { PicturedKind } from "../../core/kinds.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import {
  fetchPicture,
  PICTURE_FAILURES,
  PictureError,
  type Picture,
  type PictureFailure,
  type PictureFetchOptions,
} from "./fetch-picture.ts";

interface PictureReaderOptions {
  /** Reads the link of a picture; `null` for an entity without one, or that does not exist. */
  findLink(kind: PicturedKind, id: string): Promise<string | null>;
  now(): number;
  readonly fetchOptions?: PictureFetchOptions | undefined;
  readonly maxBytes?: number;
}

/** A picture as a blob, which Bun sends without copying it, and its entity tag. */
interface ServedPicture {
  readonly blob: Blob;
  readonly etag: string;
}

export type PictureReader = ReturnType<typeof createPictureReader>;

/** 600 pictures of 50 kB, about as many as the pages of a dozen customers show. */
const CACHE_MAX_BYTES = 32 * 1_048_576;

/** What an entry takes beside its bytes and its link, rounded up. */
const ENTRY_BYTES = 1024;

/** A platform gives a changed picture another link, so an old one is rarely wrong. */
const PICTURE_MAX_AGE_MS = DAY_MS;
const FAILURE_MAX_AGE_MS = 10 * MINUTE_MS;

const FETCHES_MAX = 8;

/** Fetches that may wait while as many run as can. A page requests 3 pictures at a time. */
const WAITING_MAX = 64;

/** A slow host takes no more than half of the fetches that run, and of those that wait. */
const HOST_FETCHES_MAX = FETCHES_MAX / 2;
const HOST_WAITING_MAX = WAITING_MAX / 2;

/** How long a fetch may wait. With its own time limit, a request ends within 10 s. */
const WAIT_MAX_MS = 5000;

export function createPictureReader(options: PictureReaderOptions) {
  const { findLink, now, maxBytes = CACHE_MAX_BYTES } = options;
  const cache = new LRUCache<string, ServedPicture | PictureFailure>({
    maxSize: maxBytes,
    sizeCalculation: (value, link) =>
      ENTRY_BYTES + 2 * link.length + (typeof value === "string" ? 0 : value.blob.size),
    ttl: PICTURE_MAX_AGE_MS,
    perf: { now },
    ttlResolution: 0,
  });
  const running = new Map<string, Promise<ServedPicture | undefined>>();
  const limitFetch = createFetchLimiter();
  const counts: Record<"fetched" | "cached" | PictureFailure, number> = Object.assign(
    { fetched: 0, cached: 0 },
    ...PICTURE_FAILURES.map((failure) => ({ [failure]: 0 })),
  );

  async function fetchAndCache(link: string): Promise<ServedPicture | undefined> {
    try {
      const picture = await limitFetch(link, () => fetchPicture(link, options.fetchOptions));
      const served = toServedPicture(picture);
      cache.set(link, served);
      counts.fetched++;
      return served;
    } catch (error) {
      if (!(error instanceof PictureError)) throw error;
      const { failure } = error;
      counts[failure]++;
      if (failure === "busy") throw createBusyError();
      cache.set(link, failure, { ttl: FAILURE_MAX_AGE_MS });
      return undefined;
    } finally {
      running.delete(link);
    }
  }

  return {
    /** How many requests for a picture had which result in this process. */
    counts: counts as Readonly<Record<string, number>>,
    /**
     * Returns the picture of an entity; `undefined` if there is none that can be served.
     *
     * @throws {DomainError} `Service Unavailable` if too many others are being fetched.
     */
    async read(kind: PicturedKind, id: string): Promise<ServedPicture | undefined> {
      const link = await findLink(kind, id);
      if (link === null) return undefined;
      const known = cache.get(link);
      if (known !== undefined) {
        counts.cached++;
        return typeof known === "string" ? undefined : known;
      }
      const started = running.get(link) ?? fetchAndCache(link);
      running.set(link, started);
      return started;
    },
  };
}

const createBusyError = () =>
  new DomainError("Service Unavailable", "Too many pictures are being fetched; try again");

function toServedPicture({ type, bytes }: Picture): ServedPicture {
  return { blob: new Blob([bytes], { type }), etag: `"${Bun.hash(bytes).toString(36)}"` };
}

/** Creates a function that bounds the fetches that run and wait, in all and by host. */
function createFetchLimiter() {
  const limitAll = pLimit(FETCHES_MAX);
  const limitByHost = new Map<string, LimitFunction>();
  let unfinished = 0;
  return async (link: string, fetchLink: () => Promise<Picture>): Promise<Picture> => {
    if (unfinished >= FETCHES_MAX + WAITING_MAX) throw new PictureError("busy");
    const host = URL.parse(link)?.host ?? "";
    const limitHost = limitByHost.get(host) ?? pLimit(HOST_FETCHES_MAX);
    if (limitHost.pendingCount >= HOST_WAITING_MAX) throw new PictureError("busy");
    limitByHost.set(host, limitHost);
    const queuedAt = performance.now();
    unfinished++;
    try {
      return await limitHost(() =>
        limitAll(() => {
          if (performance.now() - queuedAt > WAIT_MAX_MS) throw new PictureError("busy");
          return fetchLink();
        }),
      );
    } finally {
      unfinished--;
      if (limitHost.activeCount + limitHost.pendingCount === 0) limitByHost.delete(host);
    }
  };
}
