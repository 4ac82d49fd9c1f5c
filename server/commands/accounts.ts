/** `accounts`: who has credits. */
import { Command } from "commander";
import { ask, type Surroundings } from "./client.ts";
import { readAmount } from "./arguments.ts";
import { formatJson, formatTable } from "./table.ts";

/** Makes the verb. */
export function accountsCommand(surroundings: Surroundings): Command {
  const accounts = new Command("accounts").description("Accounts: who has credits.");
  accounts
    .command("create")
    .description("Creates an account.")
    .argument("<name>", "its name")
    .option("--credits <amount>", "grant it so many credits", readAmount)
    .option("--json", "print the account as JSON")
    .action(async (name: string, { credits, json }: { credits?: number; json?: true }) => {
      const account = await ask(surroundings, "accounts", (client) =>
        client.accounts.post({ name, ...(credits === undefined ? {} : { credits }) }),
      );
      surroundings.out(json === true ? formatJson(account) : formatTable(COLUMNS, [account]));
    });
  accounts
    .command("list")
    .description("Lists all accounts with their sums.")
    .option("--json", "print them as JSON")
    .action(async ({ json }: { json?: true }) => {
      const all = await ask(surroundings, "accounts", (client) => client.accounts.get());
      surroundings.out(json === true ? formatJson(all) : formatTable(COLUMNS, all));
    });
  return accounts;
}

const COLUMNS = ["name", "balance", "granted", "debited", "refunded", "created_at"] as const;
