/** Finds the cached response of a read, else prepares it, with the names of its saved list if any. */
import { DomainError } from "../../../core/errors.ts";
import type { SavedListStore } from "../../store/accounts/saved-lists.ts";
import { assertScope, isSession, type RequestCaller } from "../admission.ts";
import type { ContentEncoding } from "../content/compression.ts";
import { hashText } from "./charges.ts";
import { prepareRead, type ListedRead, type matchRead, type PreparedRead } from "./read-route.ts";
import type { RenderedResponse } from "./rendered-response.ts";
import type { createResponseCache } from "./response-cache.ts";

export type MatchedRead = NonNullable<ReturnType<typeof matchRead>>;

export interface FoundReadsOptions {
  readonly responseCache: ReturnType<typeof createResponseCache>;
  readonly readListNames: SavedListStore["readNames"];
  now(): number;
}

interface FoundRead {
  /** With a saved list, its cache key has the names of the list. */
  readonly matched: MatchedRead & { readonly listHash?: string };
  readonly cached: RenderedResponse | undefined;
  /** Missing if the response is cached: its parameters are valid, because its key has them. */
  readonly prepared: PreparedRead | undefined;
}

/** Finds the cached response of a read, else prepares it. A saved list is read for that. */
export function findOrPrepare(
  options: FoundReadsOptions,
  read: MatchedRead,
  body: unknown,
  caller: RequestCaller,
  encoding: ContentEncoding | undefined,
): FoundRead | Promise<FoundRead> {
  const cached = findCached(options, read, encoding);
  if (cached !== undefined) return { matched: read, cached, prepared: undefined };
  const prepared = prepareRead(read, body);
  return "list" in prepared
    ? findListed(options, read, prepared, caller, encoding)
    : { matched: read, cached, prepared };
}

/** Reads the names of a saved list, then finds or prepares the read of them. */
async function findListed(
  options: FoundReadsOptions,
  read: MatchedRead,
  { list, kind, prepareNames }: ListedRead,
  caller: RequestCaller,
  encoding: ContentEncoding | undefined,
): Promise<FoundRead> {
  if (isSession(caller)) throw new DomainError("Forbidden", "Saved lists are those of an account");
  assertScope(caller, "lists");
  const names = await options.readListNames(caller.account, list, kind);
  const listHash = hashText(JSON.stringify(names));
  // No URL has a space, so this is the key of no other read.
  const cacheKey = read.cacheKey && `${read.cacheKey} ${listHash}`;
  const matched = { ...read, cacheKey, listHash };
  const prepared = prepareNames(names);
  return { matched, cached: findCached(options, matched, encoding), prepared };
}

/** Prepares a read again whose response was cached: no such response has the names of a list. */
export function prepareUnlisted(read: MatchedRead, body: unknown): PreparedRead {
  const prepared = prepareRead(read, body);
  if ("list" in prepared) throw new Error("The cached response was not of a saved list");
  return prepared;
}

/** Finds the cached response: compressed, under a key that begins with the encoding, else plain. */
function findCached(
  { responseCache, now }: FoundReadsOptions,
  { cacheKey }: MatchedRead,
  encoding: ContentEncoding | undefined,
): RenderedResponse | undefined {
  if (cacheKey === undefined) return undefined;
  const compressed =
    encoding === undefined ? undefined : responseCache.get(encoding + cacheKey, now);
  return compressed ?? responseCache.get(cacheKey, now);
}
