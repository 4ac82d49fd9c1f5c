/** `accounts`: who has credits. */
import { Command } from "commander";
import { requestAdmin, type CommandContext } from "./admin-client.ts";
import { parseAmount } from "./arguments.ts";
import { formatJson, formatTable } from "./output.ts";

/** Makes the verb. */
export function createAccountsCommand(context: CommandContext): Command {
  const accounts = new Command("accounts").description("Accounts: who has credits.");
  accounts
    .command("create")
    .description("Creates an account.")
    .argument("<name>", "its name")
    .option("--credits <amount>", "grant it so many credits", parseAmount)
    .option("--json", "print the account as JSON")
    .action(async (name: string, { credits, json }: { credits?: number; json?: true }) => {
      const account = await requestAdmin(context, "accounts", (client) =>
        client.accounts.post({ name, ...(credits === undefined ? {} : { credits }) }),
      );
      await context.writeOut(json === true ? formatJson(account) : formatTable(COLUMNS, [account]));
    });
  accounts
    .command("list")
    .description("Lists all accounts with their sums.")
    .option("--json", "print them as JSON")
    .action(async ({ json }: { json?: true }) => {
      const all = await requestAdmin(context, "accounts", (client) => client.accounts.get());
      await context.writeOut(json === true ? formatJson(all) : formatTable(COLUMNS, all));
    });
  return accounts;
}

const COLUMNS = ["name", "balance", "granted", "debited", "refunded", "created_at"] as const;
