/**
 * Tests that compare the reads of a store with those of the store in memory. Channels with their shorts and
 * users with their tweets are read alike: by an owner and its posts.
 */
import { HISTORY_INTERVALS } from "../buckets.ts";
import type { OwnerKind } from "../kinds.ts";
import { DomainError } from "../errors.ts";
import { decodeHistoryCursor, type HistoryRequest } from "../history-request.ts";
import { decodeListCursor, LIST_ORDERS, type ListRequest } from "../lists.ts";
import type { ObservationStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import {
  assertEqual,
  createTests,
  observe,
  type ConformanceTest,
  type WithStore,
} from "./conformance.ts";
import { createObservations, NOW, POST_IDS } from "./random-observations.ts";

/**
 * Asserts that both stores answer a read alike: with the same body, or with errors of the same code
 * and message.
 *
 * @param read The name of the read and its arguments, for the message.
 * @returns The body; `undefined` for an error.
 */
export type CompareRead<Store> = <Body>(
  read: readonly unknown[],
  run: (store: Store) => Promise<{ readonly body: Body }>,
) => Promise<Body | undefined>;

/** Tests of reads, by name. Each runs on empty stores, and again when they have observations. */
export type ReadTests<Store> = Readonly<
  Record<string, (compare: CompareRead<Store>) => Promise<void>>
>;

/** The body of a page that continues at a cursor. */
interface Page {
  readonly pagination?: { readonly nextCursor: string | null };
}

type Read<Body = unknown> = Promise<{ readonly body: Body }>;

/** How a suite reads owners and their posts. */
export interface OwnerReads<Store, Sort extends string> {
  /** The kind of owners, and that of their posts. */
  readonly kinds: readonly [owner: OwnerKind, post: "short" | "tweet"];
  /** Names of owners, also of none. */
  readonly names: readonly string[];
  /** The figures that owners are sorted by. */
  readonly sorts: readonly [Sort, ...Sort[]];
  /** Filters of lists. */
  readonly filters: readonly Pick<ListRequest, "search" | "country">[];
  /** An owner of some posts. */
  readonly owner: string;
  readOwner(store: Store, name: string): Read;
  readBatch(store: Store, names: readonly string[]): Promise<unknown>;
  readPage(store: Store, request: ListRequest<Sort>): Read<Page>;
  readHistory(store: Store, name: string, request: HistoryRequest): Read<Page>;
  readComparison(store: Store, names: readonly string[], request: HistoryRequest): Read<Page>;
  readPost(store: Store, name: string, id: string): Read;
  readPostHistory(store: Store, name: string, id: string, request: HistoryRequest): Read<Page>;
}

/**
 * Creates the tests of a suite.
 *
 * @param edges The observations besides the random ones: edge cases.
 * @param createReference Creates the empty store whose reads are expected.
 * @param tests The tests of reads that only one kind of owner has.
 */
export function createReadTests<Store, Sort extends string>(
  withStore: WithStore<ObservationStore & Store>,
  reads: OwnerReads<Store, Sort>,
  edges: readonly object[],
  createReference: () => ObservationStore & Store,
  tests: ReadTests<Store>,
): ConformanceTest[] {
  const runTwice = (test: ReadTests<Store>[string]) => async (store: ObservationStore & Store) => {
    const reference = createReference();
    const compare: CompareRead<Store> = async (read, run) => {
      const expected = await settle(run(reference));
      const what = read.map((part) => (typeof part === "string" ? part : JSON.stringify(part)));
      assertEqual(await settle(run(store)), expected, what.join(" "));
      return expected instanceof Error ? undefined : expected.body;
    };
    await test(compare);
    const lines = [...createObservations(1, 400, reads.kinds), ...edges];
    for (const observed of [store, reference]) await observe(observed, lines);
    await test(compare);
  };
  const all = Object.entries({ ...createOwnerTests(reads), ...tests });
  return createTests(
    withStore,
    Object.fromEntries(all.map(([name, test]) => [name, runTwice(test)])),
  );
}

/** Creates the tests of the reads that all kinds of owner have. */
function createOwnerTests<Store, Sort extends string>(
  reads: OwnerReads<Store, Sort>,
): ReadTests<Store> {
  const { names, sorts, filters, owner } = reads;
  const [kind, post] = reads.kinds;
  return {
    async [`${kind}() and ${kind}Batch() find ${kind}s by any name`](compare) {
      for (const name of names) {
        await compare([`${kind}()`, name], (store) => reads.readOwner(store, name));
      }
      const batch = [...names, ...names.toReversed()];
      await compare([`${kind}Batch()`], async (store) => ({
        body: await reads.readBatch(store, batch),
      }));
    },

    async [`${kind}Page() lists ${kind}s by every figure, in pages of any size`](compare) {
      const comparePage = (request: ListRequest<Sort>) =>
        compare([`${kind}Page()`, request], (store) => reads.readPage(store, request));
      for (const sort of sorts) {
        for (const order of LIST_ORDERS) {
          for (const limit of [1, 3, 50]) {
            const list = { kind, sort, order };
            await walkPages((cursor) => {
              const after = cursor === undefined ? {} : { after: decodeListCursor(cursor, list) };
              return comparePage({ ...list, limit, ...after });
            });
          }
        }
      }
      for (const filter of filters) {
        await comparePage({ kind, sort: sorts[0], order: "desc", limit: 9, ...filter });
      }
    },

    async [`${post}() and ${post}History() find a ${post} with its ${kind} only`](compare) {
      for (const name of names) {
        for (const id of [...POST_IDS, "p0"]) {
          await compare([`${post}()`, name, id], (store) => reads.readPost(store, name, id));
        }
      }
      for (const id of POST_IDS) {
        await walkHistories((request) =>
          compare([`${post}History()`, id, request], (store) =>
            reads.readPostHistory(store, owner, id, request),
          ),
        );
      }
    },

    async [`${kind}History() and ${kind}Comparison() group points by every interval`](compare) {
      for (const name of names) {
        await walkHistories((request) =>
          compare([`${kind}History()`, name, request], (store) =>
            reads.readHistory(store, name, request),
          ),
        );
      }
      const compared = [owner, "nobody", ...names.slice(0, 4), owner];
      await walkHistories((request) =>
        compare([`${kind}Comparison()`, request], (store) =>
          reads.readComparison(store, compared, request),
        ),
      );
    },
  };
}

/** The instants around one, a millisecond apart. */
export const listInstantsAround = (instant: number): string[] =>
  [instant - 1, instant, instant + 1].map(formatInstant);

async function settle<Body>(read: Read<Body>) {
  try {
    // Other fields of the result are the store's own.
    return { body: (await read).body };
  } catch (error) {
    return error instanceof DomainError ? error : new Error(String(error));
  }
}

/** Reads page after page, until one fails or has no cursor of the next. */
export async function walkPages(
  read: (cursor: string | undefined) => Promise<Page | undefined>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const body = await read(cursor);
    cursor = body?.pagination?.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** Reads a history page after page, by every interval. */
async function walkHistories(
  read: (request: HistoryRequest) => Promise<Page | undefined>,
): Promise<void> {
  const range = { from: NOW - 40 * DAY_MS, to: NOW - DAY_MS, limit: 11 };
  for (const interval of HISTORY_INTERVALS) {
    await walkPages((cursor) => {
      const after = cursor === undefined ? {} : { after: decodeHistoryCursor(cursor, interval) };
      return read({ ...range, interval, ...after });
    });
  }
}
