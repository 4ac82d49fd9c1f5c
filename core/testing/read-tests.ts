/** Creates tests that compare a store's reads of owners and posts with the store in memory. */
import type { ComparisonRequest } from "../batch.ts";
import { HISTORY_INTERVALS } from "../buckets.ts";
import { DomainError } from "../errors.ts";
import { parseHistoryRequest, type HistoryRequest } from "../histories.ts";
import type { ItemKind, OwnerKind } from "../kinds.ts";
import { LIST_ORDERS, parseListRequest, type ListFilters, type ListRequest } from "../lists.ts";
import type { QueryParameters } from "../parameters.ts";
import type { MicroblogStore, ObservationStore, VideoStore } from "../stores.ts";
import { DAY_MS } from "../time.ts";
import {
  assertEqual,
  createTests,
  observe,
  type ConformanceTest,
  type WithStore,
} from "./conformance.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createObservations, NAMES, NOW } from "./random.ts";

type Reads = VideoStore & MicroblogStore;

/** The arguments of a read. The sorts and counts of channels and users are one type here. */
type ReadArguments<Name extends keyof Reads> = Name extends `${OwnerKind}Page`
  ? [ListRequest]
  : Name extends `${OwnerKind}Comparison`
    ? [ComparisonRequest]
    : Parameters<Reads[Name]>;

/** Asserts that both stores answer a read alike. Returns the cursor of the next page, if any. */
type CompareRead = <Name extends keyof Reads>(
  name: Name,
  ...request: ReadArguments<Name>
) => Promise<string | undefined>;

/** Tests of reads, by name. Each runs on empty stores, and again when they have observations. */
type ReadTests = Readonly<
  Record<string, (compare: CompareRead, names: readonly string[]) => Promise<void>>
>;

/** The owners of a suite, and how they are listed. */
interface TestedOwners {
  /** The kind of the owners, and the kind of their posts. */
  readonly kinds: readonly [owner: OwnerKind, post: ItemKind];
  /** Names of owners, and names that no owner has. */
  readonly names: readonly string[];
  readonly sorts: readonly [string, ...string[]];
  readonly filters: readonly ListFilters[];
  /** An owner of some posts. */
  readonly owner: string;
  /** The count that is compared. */
  readonly count: Pick<ComparisonRequest, "count" | "countIndex">;
  /** Observations of edge cases, besides the random observations. */
  readonly edges: readonly object[];
  /** The tests of reads that only one kind of owner has. */
  readonly tests: ReadTests;
}

/** Creates the tests of a suite. */
export function createReadTests<Store extends ObservationStore & Partial<Reads>>(
  withStore: WithStore<Store>,
  owners: TestedOwners,
): ConformanceTest[] {
  const runTwice = (test: ReadTests[string]) => async (store: Store) => {
    const reference = createMemoryStore(() => NOW);
    const compare: CompareRead = async (name, ...request) => {
      const expected = await readBody(reference, name, request);
      const shown = request.map((part) => (typeof part === "string" ? part : JSON.stringify(part)));
      const actual = await readBody(store, name, request);
      assertEqual(actual, expected, [`${name}()`, ...shown].join(" "));
      return readNextCursor(expected);
    };
    await test(compare, owners.names);
    const lines = [...createObservations(1, 400, owners.kinds), ...owners.edges];
    for (const observed of [store, reference]) await observe(observed, lines);
    await test(compare, owners.names);
  };
  const all = Object.entries({ ...createOwnerTests(owners), ...owners.tests });
  return createTests(
    withStore,
    Object.fromEntries(all.map(([name, test]) => [name, runTwice(test)])),
  );
}

/** The reads that all kinds of owner have. */
function createOwnerTests({ kinds, names, sorts, filters, owner, count }: TestedOwners): ReadTests {
  const [kind, post] = kinds;
  return {
    async [`${kind}() and ${kind}Batch() find ${kind}s by any name`](compare) {
      for (const name of names) await compare(kind, name);
      await compare(`${kind}Batch`, [...names, ...names.toReversed()]);
    },

    async [`${kind}Page() lists ${kind}s by every figure, in pages of any size`](compare) {
      for (const sort of sorts) {
        for (const order of LIST_ORDERS) {
          for (const limit of [1, 3, 50]) {
            await walkPages({ sort, order }, (query) =>
              compare(`${kind}Page`, { ...parseListRequest(kind, query), limit }),
            );
          }
        }
      }
      const [sort] = sorts;
      for (const filter of filters) {
        await compare(`${kind}Page`, { kind, sort, order: "desc", limit: 9, ...filter });
      }
    },

    async [`${post}() and ${post}History() find a ${post} with its ${kind} only`](compare) {
      for (const name of names) {
        for (const id of [...NAMES.posts, "p0"]) await compare(post, name, id);
      }
      for (const id of NAMES.posts) {
        await walkHistories((request) => compare(`${post}History`, owner, id, request));
      }
    },

    async [`${kind}History() and ${kind}Comparison() group points by every interval`](compare) {
      for (const name of names) {
        await walkHistories((request) => compare(`${kind}History`, name, request));
      }
      const compared = { names: [owner, "nobody", ...names.slice(0, 4), owner], ...count };
      await walkHistories((request) => compare(`${kind}Comparison`, { ...request, ...compared }));
    },
  };
}

/** Calls a read, and returns its body or error. A result's other fields are the store's own. */
async function readBody(
  store: Partial<Reads>,
  name: keyof Reads,
  request: readonly unknown[],
): Promise<unknown> {
  try {
    const read = store[name];
    if (read === undefined) throw new Error(`The store has no ${name}()`);
    const result: unknown = await Reflect.apply(read, store, request);
    const body = isObject(result) && "body" in result ? result["body"] : result;
    // Tweets are listed by the order of fields, which `assertEqual()` ignores.
    const tweets = isObject(body) ? body["tweets"] : undefined;
    return isObject(tweets) ? { body, order: Object.keys(tweets) } : body;
  } catch (error) {
    return error instanceof DomainError ? error : new Error(String(error));
  }
}

function readNextCursor(body: unknown): string | undefined {
  const pagination = isObject(body) ? body["pagination"] : undefined;
  const cursor = isObject(pagination) ? pagination["nextCursor"] : undefined;
  return typeof cursor === "string" ? cursor : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Reads page after page, each by its query, until a page fails or has no next cursor. */
export async function walkPages(
  parameters: Readonly<Record<string, string>>,
  read: (query: QueryParameters) => Promise<string | undefined>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const query = new Map(Object.entries({ ...parameters, cursor }));
    cursor = await read({ getAll: (name) => [query.get(name) ?? []].flat() });
  } while (cursor !== undefined);
}

/** Reads a history page after page, by every interval. */
async function walkHistories(
  read: (request: HistoryRequest) => Promise<string | undefined>,
): Promise<void> {
  const range = { from: NOW - 40 * DAY_MS, to: NOW - DAY_MS, limit: 11 };
  for (const interval of HISTORY_INTERVALS) {
    await walkPages({ interval }, (query) =>
      read({ ...parseHistoryRequest(query, NOW), ...range }),
    );
  }
}
