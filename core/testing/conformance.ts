/** Helpers of the conformance suites: tests without a framework, assertions, observations. */
import { DomainError, type ErrorCode } from "../errors.ts";
import type { ObservationStore } from "../stores.ts";
import { encodeUtf8 } from "../text.ts";

/** A test of a suite. It fails by rejecting with an error, with `actual` and `expected` values. */
export interface ConformanceTest {
  /** The guarantee that it tests. */
  readonly name: string;
  /** Runs the test. */
  run(): Promise<void>;
}

/** Opens an empty store, passes it to a test, and closes it when the test ends. */
export type WithStore<Store> = (test: (store: Store) => Promise<void>) => Promise<void>;

/** The tests of a suite, by name. */
export type StoreTests<Store> = Readonly<Record<string, (store: Store) => Promise<void>>>;

/** Creates the tests of a suite. */
export function createTests<Store>(
  withStore: WithStore<Store>,
  tests: StoreTests<Store>,
): ConformanceTest[] {
  return Object.entries(tests).map(([name, test]) => ({ name, run: () => withStore(test) }));
}

/** Asserts that two JSON values are equal; the order of the fields makes no difference. */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  const values = { actual: toCanonicalValue(actual), expected: toCanonicalValue(expected) };
  const [got, wanted] = [JSON.stringify(values.actual), JSON.stringify(values.expected)];
  if (got === wanted) return;
  const failure = new Error(`${what}: expected ${wanted}, got ${got}`);
  // With these fields, test runners recognize the error as a failed assertion.
  throw Object.assign(failure, { name: "AssertionError", code: "ERR_ASSERTION", ...values });
}

/** Returns a JSON value with the fields of its objects in the order of their names. */
function toCanonicalValue(value: unknown): unknown {
  if (value === undefined) return undefined;
  // Some bodies have a `toJSON()` of their own.
  return JSON.parse(JSON.stringify(value, toPlain), (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function toPlain(_: string, value: unknown): unknown {
  return value instanceof DomainError ? { code: value.code, message: value.message } : value;
}

/** Asserts that a promise rejects with a `DomainError`. */
export async function assertRejects(
  promise: Promise<unknown>,
  code: ErrorCode,
  what: string,
): Promise<void> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assertEqual(error instanceof DomainError ? error.code : String(error), code, what);
}

/** Imports observations, and asserts that none is rejected. */
export async function observe(
  { importObservations }: ObservationStore,
  lines: readonly object[],
): Promise<void> {
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const { rejected } = await importObservations(encodeUtf8(text));
  assertEqual(rejected, [], "Rejected lines");
}
