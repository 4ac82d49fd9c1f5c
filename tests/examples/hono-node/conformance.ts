/** Holds the store to the conformance suite of core: `node --test conformance.ts`. */
import { test } from "node:test";
import { createCreditStoreTests } from "@creator-metrics/core/testing";
import { openCreditStore } from "./credit-store.ts";

const suite = createCreditStoreTests(async (runTest) => {
  const store = openCreditStore(":memory:");
  await runTest(store);
  store.close();
});
for (const { name, run } of suite) test(name, run);
