/** The commands `accounts` (create, set, list) and `notices` about low balances (list, resend). */
import { Option, type Command } from "commander";
import { createInvalidRequestError } from "../../core/errors.ts";
import { NOTICE_STATES, type NoticeState } from "../stored-names.ts";
import {
  parsePositiveInteger,
  requestAdmin,
  requestPages,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { printResult, printRows } from "./terminal/output.ts";
import { writeHint } from "./terminal/process-io.ts";
import { quote } from "./terminal/style.ts";

// The table leaves out the threshold to fit 80 columns; the JSON has it.
const COLUMNS = ["name", "balance", "granted", "debited", "refunded", "created_at"] as const;

export function addAccountsCommand(program: Command, context: CommandContext): void {
  const accounts = program.command("accounts").description("Creates, changes and lists accounts.");
  accounts
    .command("create")
    .description("Creates an account.")
    .argument("<name>", "the account's name")
    .option("--credits <amount>", "grant this many credits to the account", parsePositiveInteger)
    .option("--json", "print the account as JSON")
    .action(async (name: string, { credits }: { credits?: number }) => {
      const account = await requestAdmin(context, "POST /admin/accounts", {
        body: { name, credits },
      });
      await printRows(context, [account], { columns: COLUMNS, value: account });
      writeHint(context, [`Make a key for it: ${context.programName} keys create ${quote(name)}`]);
    });
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
    .action(async (name: string, { lowBalance }: { lowBalance?: number | false }) => {
      if (lowBalance === undefined) {
        const message = "Say what to set: --low-balance <credits> or --no-low-balance";
        throw createInvalidRequestError(message);
      }
      const account = await requestAdmin(context, "PATCH /admin/accounts", {
        body: { name, low_balance: lowBalance === false ? null : lowBalance },
      });
      const columns = ["name", "balance", "low_balance"] as const;
      await printRows(context, [account], { columns, value: account });
    });
  accounts
    .command("list")
    .description(
      "Lists all accounts with their balances, and the sums of grants, debits and refunds.",
    )
    .option("--json", "print the accounts as JSON")
    .action(async () => {
      const ifEmpty = `There are no accounts; create one: ${context.programName} accounts create acme`;
      const rows = await requestAdmin(context, "GET /admin/accounts");
      await printRows(context, rows, { columns: COLUMNS, ifEmpty });
    });
}

type NoticesOptions = TextOptions<"account"> & { state?: NoticeState; limit: number };

export function addNoticesCommand(program: Command, context: CommandContext): void {
  const notices = program
    .command("notices")
    .description("Lists the notices about low balances, and sends them again.");
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
    .action(async ({ account, state, limit }: NoticesOptions) => {
      const value = await requestPages(context, limit, undefined, async (client, page) => {
        const query = { account, state, ...page };
        const { notices: found, next } = await client("GET /admin/notices", { query });
        return { rows: found, next };
      });
      const ifEmpty =
        "There are no such notices; they need WEBHOOK_URL and a threshold: " +
        `${context.programName} accounts set acme --low-balance 1000`;
      const rows = value.map((notice) => {
        const { delivered_at: _, ...shown } = notice;
        return shown;
      });
      await printRows(context, rows, { value, ifEmpty });
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
    .action(async (id: string) => {
      const notice = await requestAdmin(context, "POST /admin/notices/{id}/resend", {
        parameters: { id },
      });
      await printResult(
        context,
        notice,
        `The notice ${id} about account ${notice.account} is due now`,
      );
    });
}
