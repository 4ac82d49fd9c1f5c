/** The command `accounts`: creates and lists accounts. */
import { Command } from "commander";
import { requestAdmin } from "./admin-client.ts";
import { parsePositiveInteger, type CommandContext } from "./command.ts";
import { quote, writeHint } from "./terminal/hints.ts";
import { printRows, type OutputOptions } from "./terminal/output.ts";

export function createAccountsCommand(context: CommandContext): Command {
  const accounts = new Command("accounts").description("Creates and lists accounts.");
  accounts
    .command("create")
    .description("Creates an account.")
    .argument("<name>", "the account's name")
    .option("--credits <amount>", "grant this many credits to the account", parsePositiveInteger)
    .option("--json", "print the account as JSON")
    .action(async (name: string, options: OutputOptions & { credits?: number }) => {
      const { credits } = options;
      const account = await requestAdmin(context, (client) =>
        client.accounts.post({ name, ...(credits === undefined ? {} : { credits }) }),
      );
      await printRows(context, options, COLUMNS, [account], account);
      writeHint(context, [`Make a key for it: ${context.programName} keys create ${quote(name)}`]);
    });
  accounts
    .command("list")
    .description(
      "Lists all accounts with their balances, and the sums of grants, debits and refunds.",
    )
    .option("--json", "print the accounts as JSON")
    .action(async (options: OutputOptions) => {
      const rows = await requestAdmin(context, (client) => client.accounts.get());
      await printRows(context, options, COLUMNS, rows);
    });
  return accounts;
}

const COLUMNS = ["name", "balance", "granted", "debited", "refunded", "created_at"] as const;
