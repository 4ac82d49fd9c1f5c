/** The commands of administrators: `tokens` of the administration API, and the `audit` of changes. */
import type { Command } from "commander";
import { parseInteger } from "../../core/parameters.ts";
import { requestAdmin, requestPages } from "./admin-client.ts";
import { parsePositiveInteger, type CommandContext } from "./command.ts";
import { printResult, printRows } from "./terminal/output.ts";
import { writeSecret, writeUseHint } from "./terminal/secret.ts";

export function addAdministratorCommands(program: Command, context: CommandContext): void {
  addTokensCommand(program, context);
  addAuditCommand(program, context);
}

function addTokensCommand(program: Command, context: CommandContext): void {
  const tokens = program
    .command("tokens")
    .description("Creates, lists and revokes tokens of the administration API.");
  tokens
    .command("create")
    .summary("Creates a token and prints it.")
    .description(
      "Creates a token of the administration API and prints only the token. It cannot be shown " +
        "again, because only its hash is stored. The audit names the token in each change.",
    )
    .argument("<name>", "who or what uses the token: 1 to 64 letters, digits, dots, - or _")
    .option("--json", "print the token and its id as JSON")
    .action(async (name: string) => {
      const response = await requestAdmin(context, "POST /admin/tokens", { body: { name } });
      const revocation = `tokens revoke ${name}`;
      writeSecret(context, response.token, { name: `Token ${name}`, revocation, response });
      await writeUseHint(context, "token", (url) => [`Use it on the page ${url}/admin`]);
    });
  tokens
    .command("list")
    .summary("Lists the tokens, with the time of the last use.")
    .description(
      "Lists the valid tokens and the last revoked ones, 200 in all, with their first characters and " +
        "the time of the last use.",
    )
    .option("--json", "print the tokens as JSON")
    .action(async () => {
      const ifEmpty = `There are no tokens; create one: ${context.programName} tokens create billing`;
      await printRows(context, await requestAdmin(context, "GET /admin/tokens"), { ifEmpty });
    });
  tokens
    .command("revoke")
    .description("Revokes a token permanently. All processes refuse it within a second.")
    .argument(
      "<name_or_id>",
      'the name of a valid token, an id that "tokens list" shows, or a valid token itself',
    )
    .option("--json", "print the revoked token as JSON")
    .action(async (nameOrId: string) => {
      const token = parseInteger(nameOrId, { min: 1 }) ?? nameOrId;
      const revoked = await requestAdmin(context, "DELETE /admin/tokens", { body: { token } });
      const sentence = `Token ${revoked.name} is revoked since ${revoked.revoked_at}`;
      await printResult(context, revoked, sentence);
    });
}

interface AuditOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly before?: number;
  readonly limit: number;
}

function addAuditCommand(program: Command, context: CommandContext): void {
  program
    .command("audit")
    .summary("Lists what administrators changed, the newest first.")
    .description(
      "Lists what administrators changed, the newest first: when, who, from where, what, and the " +
        "outcome, which is not known if the process ended meanwhile. Commands are listed as the " +
        "actor command line.",
    )
    .option("--actor <name>", 'only of this token, "ADMIN_TOKEN" or "command line"')
    .option("--action <action>", 'only this action, such as "keys create"')
    .option("--before <id>", "only those before the entry with this id", parsePositiveInteger)
    .option("--limit <number>", "at most this many entries", parsePositiveInteger, 100)
    .option("--json", "print the entries as JSON")
    .action(async ({ actor, action, before, limit }: AuditOptions) => {
      const value = await requestPages(context, limit, before?.toString(), async (client, page) => {
        const query = { actor, action, ...page };
        const { entries, next } = await client("GET /admin/audit", { query });
        return { rows: entries, next };
      });
      const rows = value.map(({ details, outcome, ...entry }) => ({
        ...entry,
        details: formatDetails(details),
        outcome: outcome ?? "not known",
      }));
      await printRows(context, rows, { value, ifEmpty: "There are no such entries" });
    });
}

function formatDetails(details: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(details).filter(([, value]) => value !== null);
  return known.map(([name, value]) => `${name}=${String(value)}`).join(" ");
}
