/** `credits`: grants, statements, and the proof that every balance holds. */
import { Command } from "commander";
import { parseAmount } from "./arguments.ts";
import {
  requestAdmin,
  CommandError,
  unwrap,
  withAdminClient,
  type CommandContext,
} from "./admin-client.ts";
import { formatJson, formatTable } from "./output.ts";

/** Makes the verb. */
export function createCreditsCommand(context: CommandContext): Command {
  const credits = new Command("credits").description("Credits of accounts.");
  credits
    .command("grant")
    .description("Grants credits. One reference of an account grants once.")
    .argument("<account>", "the account's name")
    .argument("<amount>", "how many credits", parseAmount)
    .option("--reference <reference>", "what it is for, such as an invoice; grants once")
    .option("--reason <text>", "a note for the journal")
    .option("--json", "print the outcome as JSON")
    .action((account: string, amount: number, options: GrantOptions) =>
      grantCredits(context, account, amount, options),
    );
  credits
    .command("statement")
    .description("Prints the journal of an account with the balance after each entry.")
    .argument("<account>", "the account's name")
    .option("--json", "print each entry as JSON, one a line")
    .action((account: string, { json }: { json?: true }) =>
      printStatement(context, account, json === true),
    );
  credits
    .command("verify")
    .description("Recomputes every balance from the journal; the exit status tells if all hold.")
    .option("--json", "print the findings as JSON")
    .action(({ json }: { json?: true }) => printVerification(context, json === true));
  credits
    .command("apply-refunds")
    .summary("Gives back what a service could not before it ended.")
    .description(
      "Gives back what requests were debited that a service could not answer, and could not give " +
        "back before it ended. It kept them in SPOOL_FOLDER; its next start does the same. While " +
        "a service owns the database file, its SPOOL_FOLDER counts.",
    )
    .option("--json", "print the outcome as JSON")
    .action(({ json }: { json?: true }) => applyRefunds(context, json === true));
  return credits;
}

interface GrantOptions {
  readonly reference?: string;
  readonly reason?: string;
  readonly json?: true;
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
  if (json === true) return context.writeOut(formatJson(granted));
  const summary = granted.is_new
    ? `${amount} granted`
    : `Reference ${options.reference} had granted ${amount} before, nothing changed`;
  await context.writeOut(`${summary}; the balance of ${account} is ${granted.balance}\n`);
}

async function printStatement(
  context: CommandContext,
  account: string,
  json: boolean,
): Promise<void> {
  const written: Promise<void>[] = [];
  await withAdminClient(context, "credits", async (client) => {
    for (let after = 0; ;) {
      const query = { account, after: String(after) };
      const { entries, has_more } = unwrap(await client.statement.get({ query }));
      const text = json
        ? entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
        : formatTable(STATEMENT_COLUMNS, entries);
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

async function printVerification(context: CommandContext, json: boolean): Promise<void> {
  const verification = await requestAdmin(context, "credits", (client) =>
    client.verification.get(),
  );
  const { accounts, entries, faults } = verification;
  if (json) await context.writeOut(formatJson(verification));
  else if (faults.length > 0) await context.writeOut(formatTable(["account", "problem"], faults));
  if (faults.length > 0) throw new CommandError(`${faults.length} balances do not hold`);
  if (!json) {
    await context.writeOut(`All balances hold: ${accounts} accounts, ${entries} journal entries\n`);
  }
}

async function applyRefunds(context: CommandContext, json: boolean): Promise<void> {
  const { files } = await requestAdmin(context, "credits", (client) => client.refunds.post());
  if (json) await context.writeOut(formatJson({ files }));
  else if (files.length === 0) context.writeErr("No refunds wait\n");
  else {
    const rows = files.map(({ file, settled, left }) => ({ file, settled, left }));
    await context.writeOut(formatTable(["file", "settled", "left"], rows));
  }
  const faults = files.flatMap(({ file, problems }) =>
    problems.map((problem) => `${file}: ${problem}`),
  );
  if (faults.length > 0) throw new CommandError(faults.join("\n"));
}
