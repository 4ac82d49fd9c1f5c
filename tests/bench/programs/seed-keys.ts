/**
 * Adds accounts with credits and a key each to a database of the service, and prints the keys.
 *
 * Arguments: the path of a database that no process has open, and the number of accounts.
 */
import { generateSecret } from "../../../server/secrets.ts";
import { insertRow, openForSeeding } from "./seed-rows.ts";

const [, , file = "", accountCount = ""] = process.argv;
const NOW = Date.now();
const CREDITS = 1_000_000;

/** The accounts of the database have smaller ones. */
const FIRST_ID = 1000;

const database = openForSeeding(file);
const printedKeys: string[] = [];
database.run("BEGIN");
for (let account = FIRST_ID; account < FIRST_ID + Number(accountCount); account++) {
  insertRow(database, "accounts", { id: account, name: `customer ${account}`, created_at: NOW });
  const grant = { uid: `grant ${account}`, account, kind: "grant", amount: CREDITS, at: NOW };
  insertRow(database, "journal", grant);
  const { secret, hash, beginsWith } = generateSecret("cm_");
  insertRow(database, "keys", { account, hash, begins_with: beginsWith, created_at: NOW });
  printedKeys.push(secret);
}
database.run("COMMIT");
database.run("PRAGMA journal_mode = WAL");
database.close();
console.log(printedKeys.join("\n"));
