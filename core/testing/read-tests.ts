/** Tests that compare the reads of a store with those of the store in memory. */
import { HISTORY_INTERVALS } from "../buckets.ts";
import type { EntityKind } from "../entity-kinds.ts";
import { DomainError } from "../errors.ts";
import { decodeHistoryCursor, type HistoryRequest } from "../history-request.ts";
import type { ObservationStore } from "../stores.ts";
import { DAY_MS, formatInstant } from "../time.ts";
import {
  assertEqual,
  createTests,
  observe,
  type ConformanceTest,
  type WithStore,
} from "./conformance.ts";
import { createObservations, NOW } from "./random-observations.ts";

/**
 * Asserts that both stores answer a read alike: with the same body, or with errors of the same code
 * and message.
 *
 * @returns The body; `undefined` for an error.
 */
export type CompareRead<Store> = <Body>(
  what: string,
  read: (store: Store) => Promise<{ readonly body: Body }>,
) => Promise<Body | undefined>;

/** Tests of reads, by name. Each runs on empty stores, and again when they have observations. */
export type ReadTests<Store> = Readonly<
  Record<string, (compare: CompareRead<Store>) => Promise<void>>
>;

/**
 * Creates the tests of a suite.
 *
 * @param kinds What is observed.
 * @param edges What is observed besides random observations.
 * @param createReference Creates the empty store that is right.
 */
export function createReadTests<Store>(
  withStore: WithStore<ObservationStore & Store>,
  kinds: readonly EntityKind[],
  edges: readonly object[],
  createReference: () => ObservationStore & Store,
  tests: ReadTests<Store>,
): ConformanceTest[] {
  const runTwice = (test: ReadTests<Store>[string]) => async (store: ObservationStore & Store) => {
    const reference = createReference();
    const compare: CompareRead<Store> = async (what, read) => {
      const expected = await settle(read(reference));
      assertEqual(await settle(read(store)), expected, what);
      return expected instanceof Error ? undefined : expected.body;
    };
    await test(compare);
    const lines = [...createObservations(1, 400, kinds), ...edges];
    for (const observed of [store, reference]) await observe(observed, lines);
    await test(compare);
  };
  const entries = Object.entries(tests).map(([name, test]) => [name, runTwice(test)] as const);
  return createTests(withStore, Object.fromEntries(entries));
}

/** The instants around one, a millisecond apart. */
export const listInstantsAround = (instant: number): string[] =>
  [instant - 1, instant, instant + 1].map(formatInstant);

async function settle<Body>(read: Promise<{ readonly body: Body }>) {
  try {
    // What else a store says of a read is its own.
    return { body: (await read).body };
  } catch (error) {
    return error instanceof DomainError ? error : new Error(String(error));
  }
}

/** Reads a page after a cursor. Its body is `undefined` if the read fails. */
type ReadPage<Cursor> = (
  cursor: Cursor,
) => Promise<{ readonly pagination?: { readonly nextCursor: string | null } } | undefined>;

/** Reads page after page, until one has no cursor of the next. */
export async function walkPages(read: ReadPage<string | undefined>): Promise<void> {
  let cursor: string | undefined;
  do {
    const body = await read(cursor);
    cursor = body?.pagination?.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** Reads a history page after page, by every interval. */
export async function walkHistories(read: ReadPage<HistoryRequest>): Promise<void> {
  const range = { from: NOW - 40 * DAY_MS, to: NOW - DAY_MS, limit: 11 };
  for (const interval of HISTORY_INTERVALS) {
    await walkPages((cursor) => {
      const after = cursor === undefined ? {} : { after: decodeHistoryCursor(cursor, interval) };
      return read({ ...range, interval, ...after });
    });
  }
}
