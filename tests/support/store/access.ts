/** Accounts with credits and keys, written without a service. */
import { generateApiKey } from "../../../server/metering/api-keys.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
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
    const { id } = await ledger.createAccount(account, 0);
    await ledger.grant({ id: account, account, amount: credits }, 0);
    const keys = Array.from({ length: count }, generateApiKey);
    for (const { hash, beginsWith } of keys) {
      await createKeyStore(database).create({ account: id, hash, beginsWith, label: null }, 0);
    }
    return keys.map(({ key }) => key);
  } finally {
    await database.close();
  }
}
