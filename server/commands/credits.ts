/** `credits`: grants, statements, and the proof that every balance holds. */
import { Command } from "commander";
import { readAmount } from "./arguments.ts";
import { ask, CommandError, unwrap, withAdmin, type Surroundings } from "./client.ts";
import { formatJson, formatTable } from "./table.ts";

/** Makes the verb. */
export function creditsCommand(surroundings: Surroundings): Command {
  const credits = new Command("credits").description("Credits of accounts.");
  credits
    .command("grant")
    .description("Grants credits. One reference of an account grants once.")
    .argument("<account>", "the account's name")
    .argument("<amount>", "how many credits", readAmount)
    .option("--reference <reference>", "what it is for, such as an invoice; grants once")
    .option("--reason <text>", "a note for the journal")
    .option("--json", "print the outcome as JSON")
    .action((account: string, amount: number, options: GrantOptions) =>
      grant(surroundings, account, amount, options),
    );
  credits
    .command("statement")
    .description("Prints the journal of an account with the balance after each entry.")
    .argument("<account>", "the account's name")
    .option("--json", "print each entry as JSON, one a line")
    .action((account: string, { json }: { json?: true }) =>
      statement(surroundings, account, json === true),
    );
  credits
    .command("verify")
    .description("Recomputes every balance from the journal; the exit status tells if all hold.")
    .option("--json", "print the findings as JSON")
    .action(({ json }: { json?: true }) => verify(surroundings, json === true));
  credits
    .command("apply-refunds")
    .summary("Gives back what a service could not before it ended.")
    .description(
      "Gives back what requests were debited that a service could not answer, and could not give " +
        "back before it ended. It kept them in SPOOL_FOLDER; its next start does the same. While " +
        "a service owns the database file, its SPOOL_FOLDER counts.",
    )
    .option("--json", "print the outcome as JSON")
    .action(({ json }: { json?: true }) => applyRefunds(surroundings, json === true));
  return credits;
}

interface GrantOptions {
  readonly reference?: string;
  readonly reason?: string;
  readonly json?: true;
}

async function grant(
  surroundings: Surroundings,
  account: string,
  amount: number,
  { json, ...options }: GrantOptions,
): Promise<void> {
  const granted = await ask(surroundings, "credits", (client) =>
    client.grants.post({ account, amount, ...options }),
  );
  if (json === true) return surroundings.out(formatJson(granted));
  const what = granted.is_new
    ? `${amount} granted`
    : `Reference ${options.reference} had granted ${amount} before, nothing changed`;
  surroundings.out(`${what}; the balance of ${account} is ${granted.balance}\n`);
}

async function statement(
  surroundings: Surroundings,
  account: string,
  json: boolean,
): Promise<void> {
  await withAdmin(surroundings, "credits", async (client) => {
    for (let after = 0; ;) {
      const query = { account, after: String(after) };
      const { entries, has_more } = unwrap(await client.statement.get({ query }));
      surroundings.out(
        json
          ? entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
          : formatTable(STATEMENT_COLUMNS, entries),
      );
      after = entries.at(-1)?.entry ?? after;
      if (!has_more) return;
    }
  });
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

async function verify(surroundings: Surroundings, json: boolean): Promise<void> {
  const found = await ask(surroundings, "credits", (client) => client.verification.get());
  const { accounts, entries, faults } = found;
  if (json) surroundings.out(formatJson(found));
  else if (faults.length > 0) surroundings.out(formatTable(["account", "problem"], faults));
  if (faults.length > 0) throw new CommandError(`${faults.length} balances do not hold`);
  if (!json) {
    surroundings.out(`All balances hold: ${accounts} accounts, ${entries} journal entries\n`);
  }
}

async function applyRefunds(surroundings: Surroundings, json: boolean): Promise<void> {
  const { files } = await ask(surroundings, "credits", (client) => client.refunds.post());
  if (json) surroundings.out(formatJson({ files }));
  else if (files.length === 0) surroundings.err("No refunds wait\n");
  else {
    const rows = files.map(({ file, settled, left }) => ({ file, settled, left }));
    surroundings.out(formatTable(["file", "settled", "left"], rows));
  }
  const faults = files.flatMap(({ file, problems }) =>
    problems.map((problem) => `${file}: ${problem}`),
  );
  if (faults.length > 0) throw new CommandError(faults.join("\n"));
}
