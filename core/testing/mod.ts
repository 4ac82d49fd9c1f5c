/**
 * Conformance suites for stores of your own, for any test framework, and a store in memory.
 *
 * @example
 * const suite = createCreatorStoreTests(async () => {});
 * suite.map(({ name }) => name)[1];
 * // "remove() finds a creator in any case, and returns the spelling of the list"
 *
 * @module @creator-metrics/core/testing
 */
export type * from "../stores.ts";
export { createCreatorStoreTests } from "./creator-store.ts";
export { createCreditStoreTests } from "./credit-store.ts";
export { createMemoryStore } from "./memory-store.ts";
export { createObservationStoreTests } from "./observation-store.ts";
export { createMicroblogStoreTests, createVideoStoreTests } from "./owner-stores.ts";
export type { ConformanceTest, WithStore } from "./conformance.ts";
