/** The command `keys`: creates, lists and revokes API keys. */
import { Command } from "commander";
import { describeError } from "../system-errors.ts";
import { requestAdmin } from "./admin-client.ts";
import { CommandError, parsePositiveInteger, type CommandContext } from "./command.ts";
import { formatJson, printRows, type OutputOptions } from "./output.ts";

export function createKeysCommand(context: CommandContext): Command {
  const keys = new Command("keys").description("Creates, lists and revokes API keys.");
  keys
    .command("create")
    .summary("Creates an API key and prints it.")
    .description(
      "Creates an API key and prints only the key. It cannot be shown again, because only its " +
        "hash is stored.",
    )
    .argument("<account>", "the name of the account that pays for requests with the key")
    .option("--label <text>", "a note about what the key is for")
    .option("--json", "print the key and its id as JSON")
    .action(async (account: string, { json, ...label }: OutputOptions & { label?: string }) => {
      const created = await requestAdmin(context, (client) =>
        client.keys.post({ account, ...label }),
      );
      try {
        context.writeOutSync(json === true ? formatJson(created) : `${created.key}\n`);
      } catch (error) {
        throw new CommandError(
          `Key ${created.id} was created, but could not be written: ${describeError(error)}; ` +
            `revoke it with keys revoke ${created.id}, and create another`,
        );
      }
    });
  keys
    .command("list")
    .description("Lists the API keys of an account, with their ids and first characters.")
    .argument("<account>", "the account's name")
    .option("--json", "print the keys as JSON")
    .action(async (account: string, options: OutputOptions) => {
      const rows = await requestAdmin(context, (client) => client.keys.get({ query: { account } }));
      await printRows(context, options, COLUMNS, rows);
    });
  keys
    .command("revoke")
    .description("Revokes an API key permanently. All processes refuse it within a second.")
    .argument("<id>", 'the id of the key, which "keys list" shows', parsePositiveInteger)
    .action(async (id: number) => {
      const { revoked_at } = await requestAdmin(context, (client) => client.keys.delete({ id }));
      context.writeErr(`Key ${id} is revoked since ${revoked_at}\n`);
    });
  return keys;
}

const COLUMNS = ["id", "begins_with", "label", "created_at", "revoked_at"] as const;
