/** The command `accounts`: creates, changes and lists accounts, and lists their notices. */
import { Command } from "commander";
import { createInvalidRequestError } from "../../core/errors.ts";
import { requestAdmin } from "./admin-client.ts";
import { parsePositiveInteger, type CommandContext } from "./command.ts";
import { quote, writeHint } from "./terminal/hints.ts";
import { printRows, type OutputOptions } from "./terminal/output.ts";

export function createAccountsCommand(context: CommandContext): Command {
  const accounts = new Command("accounts").description("Creates, changes and lists accounts.");
  addCreateCommand(accounts, context);
  addSetCommand(accounts, context);
  addListCommand(accounts, context);
  addNoticesCommand(accounts, context);
  return accounts;
}

function addListCommand(accounts: Command, context: CommandContext): void {
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
}

function addCreateCommand(accounts: Command, context: CommandContext): void {
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
}

/** The options of `accounts set`; `--no-low-balance` is `false`. */
interface SetOptions extends OutputOptions {
  readonly lowBalance?: number | false;
}

function addSetCommand(accounts: Command, context: CommandContext): void {
  accounts
    .command("set")
    .summary("Sets when notices about a low balance are sent.")
    .description(
      "Sets the threshold of an account: when a read takes its balance below it, WEBHOOK_URL gets a " +
        "notice. The next one follows after a grant that lifts the balance to the threshold again.",
    )
    .argument("<name>", "the account's name")
    .option("--low-balance <credits>", "the threshold", parsePositiveInteger)
    .option("--no-low-balance", "send no notices about the account")
    .option("--json", "print the account as JSON")
    .action(async (name: string, options: SetOptions) => {
      const { lowBalance } = options;
      if (lowBalance === undefined) {
        const message = "Say what to set: --low-balance <credits> or --no-low-balance";
        throw createInvalidRequestError(message);
      }
      const account = await requestAdmin(context, (client) =>
        client.accounts.patch({ name, low_balance: lowBalance === false ? null : lowBalance }),
      );
      await printRows(context, options, THRESHOLD_COLUMNS, [account], account);
    });
}

function addNoticesCommand(accounts: Command, context: CommandContext): void {
  accounts
    .command("notices")
    .description(
      "Lists the notices about low balances of the last 30 days: those that are not delivered first.",
    )
    .option("--json", "print the notices as JSON")
    .action(async (options: OutputOptions) => {
      const rows = await requestAdmin(context, (client) => client.notices.get());
      await printRows(context, options, NOTICE_COLUMNS, rows);
    });
}

// The list fits 80 columns, so it leaves the threshold to its JSON.
const COLUMNS = ["name", "balance", "granted", "debited", "refunded", "created_at"] as const;

const THRESHOLD_COLUMNS = ["name", "balance", "low_balance"] as const;

const NOTICE_COLUMNS = [
  "at",
  "account",
  "balance",
  "threshold",
  "state",
  "attempts",
  "next_attempt",
  "failure",
] as const;
