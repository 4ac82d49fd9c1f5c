/** `keys`: the API keys of accounts. */
import { Command } from "commander";
import { parseAmount } from "./arguments.ts";
import {
  requestAdmin,
  CommandError,
  readErrorMessage,
  type CommandContext,
} from "./admin-client.ts";
import { formatJson, formatTable } from "./output.ts";

/** Makes the verb. */
export function createKeysCommand(context: CommandContext): Command {
  const keys = new Command("keys").description("API keys of accounts.");
  keys
    .command("create")
    .description(
      "Creates a key and prints it, alone. It is shown this once; only its hash is stored.",
    )
    .argument("<account>", "the account's name")
    .option("--label <text>", "what the key is for")
    .option("--json", "print the key and its id as JSON")
    .action(async (account: string, { label, json }: { label?: string; json?: true }) => {
      const created = await requestAdmin(context, "keys", (client) =>
        client.keys.post({ account, ...(label === undefined ? {} : { label }) }),
      );
      try {
        context.writeOutSync(json === true ? formatJson(created) : `${created.key}\n`);
      } catch (error) {
        throw new CommandError(
          `Key ${created.id} was made, but could not be written: ${readErrorMessage(error)}; ` +
            `end it with keys revoke ${created.id}, and make another`,
        );
      }
    });
  keys
    .command("list")
    .description("Lists the keys of an account by how they begin.")
    .argument("<account>", "the account's name")
    .option("--json", "print them as JSON")
    .action(async (account: string, { json }: { json?: true }) => {
      const all = await requestAdmin(context, "keys", (client) =>
        client.keys.get({ query: { account } }),
      );
      await context.writeOut(json === true ? formatJson(all) : formatTable(COLUMNS, all));
    });
  keys
    .command("revoke")
    .description("Revokes a key, within a second, for good.")
    .argument("<id>", "the key's id, as keys list shows it", parseAmount)
    .action(async (id: number) => {
      const { revoked_at } = await requestAdmin(context, "keys", (client) =>
        client.keys.delete({ id }),
      );
      context.writeErr(`Key ${id} is revoked since ${revoked_at}\n`);
    });
  return keys;
}

const COLUMNS = ["id", "begins_with", "label", "created_at", "revoked_at"] as const;
