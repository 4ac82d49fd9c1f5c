import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { parseObservation } from "../../../../core/observations.ts";
import { createKeyStore } from "../../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../../server/store/accounts/ledger.ts";
import { backUp } from "../../../../server/store/database/backup/backup.ts";
import { LEDGER_TABLES } from "../../../../server/store/database/backup/merged-copy.ts";
import type { Database } from "../../../../server/store/database/database.ts";
import { openDatabase } from "../../../../server/store/database/open-database.ts";
import { createVideoReads } from "../../../../server/store/reads/video.ts";
import * as entityTables from "../../../../server/store/tables/entity-tables.ts";
import * as figureTables from "../../../../server/store/tables/figure-tables.ts";
import { hasSqld, startSqld } from "../../../support/processes/sqld.ts";
import { queryRows, withDatabase } from "../../../support/store/database.ts";
import { commitDebitGroup } from "../../../support/store/debits.ts";
import { readLedgerState } from "../../../support/store/ledger-state.ts";
import { writeObservations } from "../../../support/store/observations.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "copy-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SELECT_SCHEMA = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name";

/** What no part of the service wrote: tables of the libSQL server or of the name search. */
const OTHER_TABLES = `
  SELECT name
  FROM sqlite_master
  WHERE type = 'table' AND name NOT GLOB '*_names*' AND name NOT GLOB '_*drizzle*'
  ORDER BY name`;

const observeChannel = (database: Database, id: string) =>
  writeObservations(database, [
    parseObservation(
      { kind: "channel", observedAt: "2026-01-01", id, displayName: `The ${id}`, subscribers: 7 },
      Date.now(),
    ),
  ]);

async function fillLedger(database: Database, name: string): Promise<void> {
  const ledger = createLedgerStore(database);
  const account = await ledger.createAccount(name, 0);
  await ledger.grant({ id: "g", account: name, amount: 100 }, 0);
  await createKeyStore(database).create(name, {}, 0);
  await commitDebitGroup(ledger, [{ account: account.id, cost: 3 }], "d", 0);
}

const openFile = (file: string) => openDatabase({ url: `file:${file}`, durability: "process" });

/** Fills two databases, backs both up into one file, and checks the file. */
async function expectMerged(ledger: Database, entities: Database): Promise<void> {
  await fillLedger(ledger, "acme");
  await observeChannel(entities, "wanted");
  // What each has without use must not get into the backup.
  await fillLedger(entities, "unused");
  await observeChannel(ledger, "unused");
  const state = await readLedgerState(ledger);
  const file = join(folder, "backup.db");
  await backUp({ ledger, entities }, file);
  expect(readdirSync(folder)).toEqual(["backup.db"]);

  const merged = await openFile(file);
  expect(await readLedgerState(merged)).toEqual(state);
  expect(await queryRows(merged, "SELECT id FROM channels")).toEqual([{ id: "wanted" }]);
  const names = "SELECT count(*) AS count FROM channel_names('wanted')";
  expect(await queryRows(merged, names)).toEqual([{ count: 1 }]);
  const channel = await createVideoReads(merged).channel("wanted");
  expect(channel.body).toMatchObject({ displayName: "The wanted", subscribers: 7 });
  expect(await queryRows(merged, SELECT_SCHEMA)).toEqual(await queryRows(entities, SELECT_SCHEMA));
  // The triggers work: a debit moves the sums once.
  const { id = 0 } = (await createLedgerStore(merged).accounts({ first: 0, last: 1 }))[0] ?? {};
  const debits = [{ account: id, cost: 5 }];
  expect(await commitDebitGroup(createLedgerStore(merged), debits, "e", 0)).toMatchObject([
    { isAccepted: true, balance: 92 },
  ]);
  await merged.close();
}

describe("backUp() of two databases", () => {
  test("has the ledger of one file and the entities of the other", async () => {
    await withDatabase((ledger) => withDatabase((entities) => expectMerged(ledger, entities)));
  });

  test.skipIf(!hasSqld())(
    "does the same with two namespaces of a libSQL server",
    async () => {
      const { url, entitiesUrl, close } = await startSqld({ isSplit: true });
      const ledger = await openDatabase({ url, durability: "power" });
      const entities = await openDatabase({ url: entitiesUrl, durability: "power" });
      await expectMerged(ledger, entities);
      await ledger.close();
      await entities.close();
      await close();
    },
    30_000,
  );

  test("takes each table from one of them", async () => {
    const declared = [...Object.values(entityTables), ...Object.values(figureTables)];
    const observed = declared.filter((value) => is(value, SQLiteTable));
    const expected = [...LEDGER_TABLES, ...observed.map(getTableName)].toSorted();
    await withDatabase(async (database) => {
      const tables = await queryRows(database, OTHER_TABLES);
      expect(tables.map(({ name }) => name)).toEqual(expected);
    });
  });
});
