/** The command `credits`: grants credits, prints journals, verifies balances, applies refunds. */
import type { Command } from "commander";
import { HOUR_MS } from "../../core/time.ts";
import {
  CommandError,
  parsePositiveInteger,
  requestAdmin,
  resolveInstant,
  withConnection,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { formatJson, formatTable, printRows } from "./terminal/output.ts";
import { formatPlural, showControls } from "./terminal/style.ts";

export function addCreditsCommand(program: Command, context: CommandContext): void {
  const credits = program
    .command("credits")
    .description("Grants credits, prints journals, verifies balances and applies refunds.");
  addGrantCommand(credits, context);
  addStatementCommand(credits, context);
  credits
    .command("verify")
    .summary("Compares every balance with the journal.")
    .description(
      "Recomputes every balance from the journal, and compares the journal with the recorded " +
        "usage. The exit status is 1 if they differ.",
    )
    .option("--json", "print the result as JSON")
    .action(async () => {
      const verification = await requestAdmin(context, "GET /admin/verification");
      const { accounts, entries, faults } = verification;
      if (!context.isJson && faults.length === 0) {
        const entryCount = entries === 1 ? "1 journal entry" : `${entries} journal entries`;
        const counts = `${formatPlural(accounts, "account")}, ${entryCount}`;
        return context.writeOut(`All balances are correct: ${counts}\n`);
      }
      await printRows(context, faults, { value: verification });
      if (faults.length > 0) {
        throw new CommandError(`The verification found ${formatPlural(faults.length, "problem")}`);
      }
    });
  credits
    .command("apply-refunds")
    .summary("Applies refunds that a service could not apply before it ended.")
    .description(
      "Applies the refunds in SPOOL_FOLDER: those that a service could not apply before it ended. " +
        "The next start of the service does the same. If a service owns the database file, its " +
        "SPOOL_FOLDER is used. The exit status is 1 if refunds remain.",
    )
    .option("--json", "print the result as JSON")
    .action(async () => {
      const { files } = await requestAdmin(context, "POST /admin/refunds");
      const columns = ["file", "settled", "left"] as const;
      const ifEmpty = "No refunds are pending";
      await printRows(context, files, { columns, value: { files }, ifEmpty });
      const faults = files.flatMap(({ file, problems }) =>
        problems.map((problem) => `${file}: ${problem}`),
      );
      if (faults.length > 0) throw new CommandError(faults.join("\n"));
    });
}

function addGrantCommand(credits: Command, context: CommandContext): void {
  credits
    .command("grant")
    .summary("Grants credits to an account.")
    .description(
      "Grants credits to an account. An account gets a grant with a reference only once: repeating " +
        "it changes nothing, and another amount is an error.",
    )
    .argument("<account>", "the account's name")
    .argument("<amount>", "how many credits", parsePositiveInteger)
    .option("--reference <reference>", "what the grant is for, such as an invoice number")
    .option("--reason <text>", "a note for the journal")
    .option("--json", "print the new balance as JSON")
    .action(
      async (
        account: string,
        amount: number,
        { reference, reason }: TextOptions<"reference" | "reason">,
      ) => {
        const granted = await requestAdmin(context, "POST /admin/grants", {
          body: { account, amount, reference, reason },
        });
        const summary = granted.is_new
          ? `${amount} granted`
          : `Reference ${reference} had granted ${amount} before, nothing changed`;
        const sentence = `${summary}; the balance of ${account} is ${granted.balance}`;
        const text = context.isJson ? formatJson(granted) : `${showControls(sentence)}\n`;
        await context.writeOut(text);
      },
    );
}

function addStatementCommand(credits: Command, context: CommandContext): void {
  credits
    .command("statement")
    .summary("Prints the grants, debits and refunds of an account.")
    .description(
      "Prints the grants, refunds and debits of an account, with the balance after each. The debits " +
        "of an hour are one line for each key and endpoint, its refunds one for each reason. Within an " +
        "hour, the grants come first, then the refunds.",
    )
    .argument("<account>", "the account's name")
    .option("--since <instant>", "from this UTC day or hour on; -7d begins with a whole hour")
    .option("--until <instant>", "before this UTC day or hour; -12h ends with a whole hour")
    .option("--json", "print the lines as JSON, one per line")
    .action(async (account: string, range: TextOptions<"since" | "until">) => {
      // Debits are counted by hour.
      const since = resolveInstant("since", range.since, (at) => at - (at % HOUR_MS));
      const until = resolveInstant("until", range.until, (at) => Math.ceil(at / HOUR_MS) * HOUR_MS);
      const written: Promise<void>[] = [];
      await withConnection(context, async (client) => {
        for (let start = { since }; ;) {
          const query = { account, ...start, until };
          const { lines, next } = await client("GET /admin/statement", { query });
          const text = context.isJson
            ? lines.map((line) => `${JSON.stringify(line)}\n`).join("")
            : formatTable(STATEMENT_COLUMNS, lines, context);
          written.push(context.writeOut(text));
          if (next === null) return;
          start = { since: next };
        }
      });
      // Waits only now: a slow pager must not keep the database from other processes.
      await Promise.all(written);
    });
}

const STATEMENT_COLUMNS = [
  "at",
  "kind",
  "key",
  "key_begins_with",
  "label",
  "endpoint",
  "requests",
  "amount",
  "balance",
  "reference",
  "reason",
] as const;
