/** Accounts with credits and keys, written without a service. */
import { createKeyStore, type KeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";

interface Access {
  readonly account: string;
  readonly credits: number;
  readonly keys?: number;
}

/** Creates an account with credits on a libSQL server. @returns Its API keys. */
export const createAccess = (url: string, access: Access): Promise<string[]> =>
  createAllAccess(url, [access]);

/** Creates accounts with credits on a libSQL server. @returns Their API keys. */
export async function createAllAccess(url: string, all: readonly Access[]): Promise<string[]> {
  const database = await openDatabase({ url, durability: "process" });
  try {
    const ledger = createLedgerStore(database);
    const store = createKeyStore(database);
    const keys: string[] = [];
    for (const { account, credits, keys: count = 1 } of all) {
      await ledger.createAccount(account, 0, credits);
      keys.push(...(await createAccountKeys(store, account, count)));
    }
    return keys;
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
