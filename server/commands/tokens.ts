/** The command `tokens`: creates, lists and revokes the tokens of administrators. */
import { Command } from "commander";
import { parseInteger } from "../../core/parameters.ts";
import { requestAdmin } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";
import { printResult, printRows, type OutputOptions } from "./terminal/output.ts";
import { writeSecret, writeUseHint } from "./terminal/secret.ts";

export function createTokensCommand(context: CommandContext): Command {
  const tokens = new Command("tokens").description(
    "Creates, lists and revokes tokens of the administration API.",
  );
  tokens
    .command("create")
    .summary("Creates a token and prints it.")
    .description(
      "Creates a token of the administration API and prints only the token. It cannot be shown " +
        "again, because only its hash is stored. The audit names the token in each change.",
    )
    .argument("<name>", "who or what uses the token: 1 to 64 letters, digits, dots, - or _")
    .option("--json", "print the token and its id as JSON")
    .action(async (name: string, options: OutputOptions) => {
      const created = await requestAdmin(context, "POST /admin/tokens", { body: { name } });
      writeSecret(context, options, created.token, {
        name: `Token ${name}`,
        revocation: `tokens revoke ${name}`,
        response: created,
      });
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
    .action(async (options: OutputOptions) => {
      const rows = await requestAdmin(context, "GET /admin/tokens");
      await printRows(context, options, COLUMNS, rows, {
        ifEmpty: `There are no tokens; create one: ${context.programName} tokens create billing`,
      });
    });
  tokens
    .command("revoke")
    .description("Revokes a token permanently. All processes refuse it within a second.")
    .argument(
      "<name_or_id>",
      'the name of a valid token, an id that "tokens list" shows, or a valid token itself',
    )
    .option("--json", "print the revoked token as JSON")
    .action(async (nameOrId: string, options: OutputOptions) => {
      const token = parseInteger(nameOrId, { min: 1 }) ?? nameOrId;
      const revoked = await requestAdmin(context, "DELETE /admin/tokens", { body: { token } });
      const sentence = `Token ${revoked.name} is revoked since ${revoked.revoked_at}`;
      await printResult(context, options, revoked, sentence);
    });
  return tokens;
}

const COLUMNS = ["id", "name", "begins_with", "created_at", "last_used_at", "revoked_at"] as const;
