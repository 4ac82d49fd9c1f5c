import { afterAll, describe, expect, test } from "bun:test";
import { DomainError } from "../../../core/errors.ts";
import {
  assertEqual,
  assertRejects,
  type ConformanceTest,
} from "../../../core/testing/conformance.ts";
import {
  createCreatorStoreTests,
  createCreditStoreTests,
  createMemoryStore,
  createMicroblogStoreTests,
  createObservationStoreTests,
  createVideoStoreTests,
} from "../../../core/testing/mod.ts";

/** A store that answers everything with nothing. */
const NOTHING = {
  importObservations: async () => ({
    read: 0,
    new: 0,
    changed: 0,
    unchanged: 0,
    rejected: [],
    causes: [],
  }),
};
const EMPTY_STORE = new Proxy<Record<string, unknown>>(NOTHING, {
  get: (store, name) => store[String(name)] ?? (async () => ({ body: {}, outcomes: [] })),
});
const withEmptyStore = (run: (store: never) => Promise<void>) => run(EMPTY_STORE as never);

const SUITES: readonly (readonly [string, readonly ConformanceTest[]])[] = [
  ["createCreatorStoreTests", createCreatorStoreTests(withEmptyStore)],
  ["createCreditStoreTests", createCreditStoreTests(withEmptyStore)],
  ["createMicroblogStoreTests", createMicroblogStoreTests(withEmptyStore)],
  ["createObservationStoreTests", createObservationStoreTests(withEmptyStore)],
  ["createVideoStoreTests", createVideoStoreTests(withEmptyStore)],
];

describe.each(SUITES)("%s()", (_, suite) => {
  test("names each test once, and a store that does nothing fails each", async () => {
    expect(suite.length).toBeGreaterThan(2);
    expect(new Set(suite.map(({ name }) => name)).size).toBe(suite.length);
    for (const { run } of suite) {
      const failure: unknown = await run().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(Error);
    }
  });
});

function catchFailure(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("assertEqual()", () => {
  test("compares JSON values, in any order of their fields", () => {
    assertEqual({ a: 1, b: [{ c: null, d: undefined }] }, { b: [{ c: null }], a: 1 }, "Both");
    assertEqual(undefined, undefined, "Both");
    expect(() => assertEqual([1, 2], [2, 1], "The list")).toThrow(
      "The list: expected [2,1], got [1,2]",
    );
    expect(() => assertEqual({ a: 0 }, { a: null }, "It")).toThrow(
      'It: expected {"a":null}, got {"a":0}',
    );
    expect(() => assertEqual(undefined, {}, "It")).toThrow("It: expected {}, got undefined");
  });

  test("fails with what test runners show as a difference: actual and expected, fields sorted", () => {
    const failure = catchFailure(() => assertEqual({ b: [1], a: 0 }, { a: 0, b: [2] }, "It"));
    expect(failure).toBeInstanceOf(Error);
    expect(failure).toMatchObject({ name: "AssertionError", code: "ERR_ASSERTION" });
    expect(failure).toMatchObject({ actual: { a: 0, b: [1] }, expected: { a: 0, b: [2] } });
    expect(JSON.stringify(failure)).toContain('"actual":{"a":0,"b":[1]}');
    const missing = catchFailure(() => assertEqual(undefined, null, "It"));
    expect(missing).toMatchObject({ actual: undefined, expected: null });
  });
});

describe("assertRejects()", () => {
  test("takes a DomainError with the code, and nothing else", async () => {
    const reject = () => Promise.reject(new DomainError("Conflict", "It is there"));
    await assertRejects(reject(), "Conflict", "It");
    await expect(assertRejects(reject(), "Not Found", "It")).rejects.toThrow(
      'It: expected "Not Found", got "Conflict"',
    );
    await expect(assertRejects(Promise.resolve(), "Conflict", "It")).rejects.toThrow("undefined");
    await expect(
      assertRejects(Promise.reject(new Error("Conflict")), "Conflict", "It"),
    ).rejects.toThrow("Error: Conflict");
  });
});

/** The methods that the suites called. */
const called = new Set<string>();
const openStore = () => createMemoryStore(() => Date.UTC(2027, 0, 1));

async function withRecordedStore(run: (store: ReturnType<typeof openStore>) => Promise<void>) {
  const record = (store: object, name: string) => {
    called.add(name);
    return Reflect.get(store, name) as unknown;
  };
  await run(new Proxy(openStore(), { get: (store, name) => record(store, String(name)) }));
}

const OWN_SUITE = [
  ...createVideoStoreTests(withRecordedStore),
  ...createMicroblogStoreTests(withRecordedStore),
  ...createObservationStoreTests(withRecordedStore),
].map(({ name, run }) => [name, run] as const);

describe("createMemoryStore()", () => {
  let passed = 0;
  test.each(OWN_SUITE)("passes: %s", async (_, run) => {
    await run();
    passed++;
  });

  // A method that no suite calls would be untested in the stores of others.
  afterAll(() => {
    if (passed < OWN_SUITE.length) return;
    expect([...called].toSorted()).toEqual(Object.keys(openStore()).toSorted());
  });
});
