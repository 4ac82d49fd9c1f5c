/** The commands `accounts` and `notices`: accounts, and the notices about their low balances. */
import { Command, Option } from "commander";
import { createInvalidRequestError } from "../../core/errors.ts";
import { NOTICE_STATES, type NoticeState } from "../stored-names.ts";
import { createAdminClient, readPages, requestAdmin, withConnection } from "./admin-client.ts";
import { parsePositiveInteger, type CommandContext } from "./command.ts";
import { quote, writeHint } from "./terminal/hints.ts";
import { printResult, printRows, type OutputOptions } from "./terminal/output.ts";

export function createAccountsCommand(context: CommandContext): Command {
  const accounts = new Command("accounts").description("Creates, changes and lists accounts.");
  addCreateCommand(accounts, context);
  addSetCommand(accounts, context);
  addListCommand(accounts, context);
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
      const rows = await requestAdmin(context, "GET /admin/accounts");
      await printRows(context, options, COLUMNS, rows, {
        ifEmpty: `There are no accounts; create one: ${context.programName} accounts create acme`,
      });
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
      const account = await requestAdmin(context, "POST /admin/accounts", {
        body: { name, ...(credits === undefined ? {} : { credits }) },
      });
      await printRows(context, options, COLUMNS, [account], { value: account });
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
    .option("--no-low-balance", "send no notices about the account, nor pending ones")
    .option("--json", "print the account as JSON")
    .action(async (name: string, options: SetOptions) => {
      const { lowBalance } = options;
      if (lowBalance === undefined) {
        const message = "Say what to set: --low-balance <credits> or --no-low-balance";
        throw createInvalidRequestError(message);
      }
      const account = await requestAdmin(context, "PATCH /admin/accounts", {
        body: { name, low_balance: lowBalance === false ? null : lowBalance },
      });
      await printRows(context, options, THRESHOLD_COLUMNS, [account], { value: account });
    });
}

interface NoticesOptions extends OutputOptions {
  readonly account?: string;
  readonly state?: NoticeState;
  readonly limit: number;
}

export function createNoticesCommand(context: CommandContext): Command {
  const notices = new Command("notices").description(
    "Lists the notices about low balances, and sends them again.",
  );
  notices
    .command("list")
    .summary("Lists the notices about low balances, the newest first.")
    .description(
      "Lists the notices about low balances, the newest first. A pending one is still to be sent, a " +
        "failed one is given up. Delivered and failed ones are deleted after 30 days.",
    )
    .option("--account <name>", "only those about this account")
    .addOption(new Option("--state <state>", "only those in this state").choices(NOTICE_STATES))
    .option("--limit <number>", "at most this many notices", parsePositiveInteger, 100)
    .option("--json", "print the notices as JSON")
    .action(async ({ account, state, limit, ...options }: NoticesOptions) => {
      const filter = {
        ...(account !== undefined && { account }),
        ...(state !== undefined && { state }),
      };
      const rows = await withConnection(context, (connection) => {
        const client = createAdminClient(connection);
        return readPages({ limit }, async (page) => {
          const read = await client("GET /admin/notices", { query: { ...filter, ...page } });
          return { rows: read.notices, next: read.next };
        });
      });
      await printRows(context, options, NOTICE_COLUMNS, rows, {
        ifEmpty:
          "There are no such notices; they need WEBHOOK_URL and a threshold: " +
          `${context.programName} accounts set acme --low-balance 1000`,
      });
    });
  notices
    .command("resend")
    .summary("Sends a notice again that was not delivered.")
    .description(
      "Sends a notice again that was given up, or that waits for its next attempt. The running " +
        "service sends it within seconds, and tries it as often as a new one.",
    )
    .argument("<id>", 'the id of the notice, which "notices list --json" shows')
    .option("--json", "print the notice as JSON")
    .action(async (id: string, options: OutputOptions) => {
      const notice = await requestAdmin(context, "POST /admin/notices/{id}/resend", {
        parameters: { id },
      });
      const sentence = `The notice ${id} about account ${notice.account} is due now`;
      await printResult(context, options, notice, sentence);
    });
  return notices;
}

// The list fits 80 columns, so it leaves the threshold to its JSON.
const COLUMNS = ["name", "balance", "granted", "debited", "refunded", "created_at"] as const;

const THRESHOLD_COLUMNS = ["name", "balance", "low_balance"] as const;

const NOTICE_COLUMNS = [
  "id",
  "at",
  "account",
  "balance",
  "threshold",
  "state",
  "attempts",
  "next_attempt",
  "failure",
] as const;
