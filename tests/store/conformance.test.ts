/** Holds the libSQL store to the conformance suites of core. */
import { describe, test } from "bun:test";
import {
  createCreatorStoreTests,
  createCreditStoreTests,
  createMicroblogStoreTests,
  createObservationStoreTests,
  createVideoStoreTests,
  type ConformanceTest,
} from "../../core/testing/mod.ts";
import type { CreditStore, ObservationStore } from "../../core/stores.ts";
import { createLedgerStore, type LedgerStore } from "../../server/store/accounts/ledger.ts";
import type { Debit } from "../../server/store/accounts/refunds.ts";
import { createCreatorStore } from "../../server/store/collection/watch-lists.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { createMicroblogReads } from "../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../server/store/reads/video.ts";
import type { Database } from "../../server/store/database/database.ts";
import { withDatabase } from "../support/store/database.ts";
import { refreshAllFigures } from "../support/store/figures.ts";

/** A ledger whose charges name their accounts, and are all of one key and endpoint. */
function toCreditStore(ledger: LedgerStore): CreditStore<Debit> {
  const findId = async (name: string) => (await ledger.account(name).catch(() => undefined))?.id;
  return {
    ...ledger,
    async debit(charges, batch) {
      const ids = await Promise.all(charges.map(({ account }) => findId(account)));
      const known = charges.map((charge, index) =>
        Object.assign({}, charge, { account: ids[index] ?? 99, key: 1, endpoint: "/test" }),
      );
      return ledger.debit(known, batch);
    },
  };
}

/** An importer whose figures are there once it is done, and not only soon. */
function createRefreshingImporter(database: Database): ObservationStore {
  const importObservations = createImporter(database, Date.now);
  return {
    async importObservations(lines) {
      const result = await importObservations(lines);
      await refreshAllFigures(database);
      return result;
    },
  };
}

const SUITES: Readonly<Record<string, readonly ConformanceTest[]>> = {
  createLedgerStore: createCreditStoreTests((run) =>
    withDatabase((database) => run(toCreditStore(createLedgerStore(database)))),
  ),
  createCreatorStore: createCreatorStoreTests((run) =>
    withDatabase((database) => run(createCreatorStore(database))),
  ),
  createImporter: createObservationStoreTests((run) =>
    withDatabase((database) => {
      const importObservations = createImporter(database, Date.now);
      return run({ importObservations, ...createVideoReads(database) });
    }),
  ),
  createVideoReads: createVideoStoreTests((run) =>
    withDatabase((database) =>
      run({ ...createRefreshingImporter(database), ...createVideoReads(database) }),
    ),
  ),
  createMicroblogReads: createMicroblogStoreTests((run) =>
    withDatabase((database) =>
      run({ ...createRefreshingImporter(database), ...createMicroblogReads(database) }),
    ),
  ),
};

describe.each(Object.entries(SUITES))("%s()", (_, suite) => {
  test.each(suite)("$name", ({ run }) => run(), 30_000);
});
