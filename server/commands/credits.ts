/** The command `credits`: grants credits, prints journals, verifies balances, applies refunds. */
import { Command } from "commander";
import { requestAdmin, unwrap, withAdminClient } from "./admin-client.ts";
import { CommandError, parsePositiveInteger, type CommandContext } from "./command.ts";
import { formatJson, formatTable, printRows, type OutputOptions } from "./output.ts";

/** Creates the command. */
export function createCreditsCommand(context: CommandContext): Command {
  const credits = new Command("credits").description(
    "Grants credits, prints journals, verifies balances and applies refunds.",
  );
  credits
    .command("grant")
    .summary("Grants credits to an account.")
    .description(
      "Grants credits to an account. With a reference, the grant is made once per account: " +
        "repeating it with the same amount changes nothing, another amount is an error.",
    )
    .argument("<account>", "the account's name")
    .argument("<amount>", "how many credits", parsePositiveInteger)
    .option("--reference <reference>", "what the grant is for, such as an invoice number")
    .option("--reason <text>", "a note for the journal")
    .option("--json", "print the new balance as JSON")
    .action((account: string, amount: number, options: GrantOptions) =>
      grantCredits(context, account, amount, options),
    );
  credits
    .command("statement")
    .description("Prints the journal of an account, with the balance after each entry.")
    .argument("<account>", "the account's name")
    .option("--json", "print the entries as JSON, one per line")
    .action((account: string, options: OutputOptions) => printStatement(context, account, options));
  credits
    .command("verify")
    .summary("Verifies every balance against the journal.")
    .description(
      "Recomputes every balance from the journal, and compares the journal with the recorded " +
        "usage. The exit status is 1 if they differ.",
    )
    .option("--json", "print the result as JSON")
    .action((options: OutputOptions) => printVerification(context, options));
  credits
    .command("apply-refunds")
    .summary("Applies refunds that a service could not apply before it ended.")
    .description(
      "Applies the refunds that a service could not apply before it ended, and wrote to " +
        "SPOOL_FOLDER. The next start of the service does the same. While a service owns the " +
        "database file, the SPOOL_FOLDER of that service is used. The exit status is 1 if " +
        "refunds remain.",
    )
    .option("--json", "print the result as JSON")
    .action((options: OutputOptions) => applyRefunds(context, options));
  return credits;
}

interface GrantOptions extends OutputOptions {
  readonly reference?: string;
  readonly reason?: string;
}

async function grantCredits(
  context: CommandContext,
  account: string,
  amount: number,
  { json, ...options }: GrantOptions,
): Promise<void> {
  const granted = await requestAdmin(context, "credits", (client) =>
    client.grants.post({ account, amount, ...options }),
  );
  const summary = granted.is_new
    ? `${amount} granted`
    : `Reference ${options.reference} had granted ${amount} before, nothing changed`;
  await context.writeOut(
    json === true
      ? formatJson(granted)
      : `${summary}; the balance of ${account} is ${granted.balance}\n`,
  );
}

async function printStatement(
  context: CommandContext,
  account: string,
  { json }: OutputOptions,
): Promise<void> {
  const written: Promise<void>[] = [];
  await withAdminClient(context, "credits", async (client) => {
    for (let after = 0; ;) {
      const query = { account, after: String(after) };
      const { entries, has_more } = unwrap(await client.statement.get({ query }));
      const text =
        json === true
          ? entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
          : formatTable(STATEMENT_COLUMNS, entries, context.columns);
      written.push(context.writeOut(text));
      after = entries.at(-1)?.entry ?? after;
      if (!has_more) return;
    }
  });
  // Not before: a pager that reads slowly must not keep the database from other processes.
  await Promise.all(written);
}

const STATEMENT_COLUMNS = [
  "entry",
  "at",
  "kind",
  "amount",
  "balance",
  "reference",
  "reason",
] as const;

async function printVerification(context: CommandContext, options: OutputOptions): Promise<void> {
  const verification = await requestAdmin(context, "credits", (client) =>
    client.verification.get(),
  );
  const { accounts, entries, faults } = verification;
  if (options.json === true || faults.length > 0) {
    await printRows(context, options, ["account", "problem"], faults, verification);
  }
  if (faults.length > 0) throw new CommandError(`The verification found ${faults.length} problems`);
  if (options.json === true) return;
  await context.writeOut(
    `All balances are correct: ${accounts} accounts, ${entries} journal entries\n`,
  );
}

async function applyRefunds(context: CommandContext, options: OutputOptions): Promise<void> {
  const { files } = await requestAdmin(context, "credits", (client) => client.refunds.post());
  const rows = files.map(({ file, settled, left }) => ({ file, settled, left }));
  if (rows.length === 0 && options.json !== true) context.writeErr("No refunds are pending\n");
  else await printRows(context, options, ["file", "settled", "left"], rows, { files });
  const faults = files.flatMap(({ file, problems }) =>
    problems.map((problem) => `${file}: ${problem}`),
  );
  if (faults.length > 0) throw new CommandError(faults.join("\n"));
}
