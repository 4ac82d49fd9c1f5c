/** Accounts with credits and keys, written without a service. */
import { createKeyStore, type KeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";

/** Creates an account with credits on a libSQL server. @returns Its API keys. */
export async function createAccess(
  url: string,
  { account, credits, keys: count = 1 }: { account: string; credits: number; keys?: number },
): Promise<string[]> {
  const database = await openDatabase({ url, durability: "process" });
  try {
    const ledger = createLedgerStore(database);
    await ledger.createAccount(account, 0);
    await ledger.grant({ id: account, account, amount: credits }, 0);
    const store = createKeyStore(database);
    return await createAccountKeys(store, account, count);
  } finally {
    await database.close();
  }
}

/** Creates keys of an account. @returns Their texts. */
export async function createAccountKeys(
  store: KeyStore,
  account: string,
  count: number,
): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) keys.push((await store.create(account, {}, 0)).key);
  return keys;
}
