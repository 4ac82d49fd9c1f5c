/** The command `keys`: creates, lists, rotates and revokes API keys. */
import { Command, InvalidArgumentError } from "commander";
import { parseInteger } from "../../core/parameters.ts";
import { requestAdmin } from "./admin-client.ts";
import { parsePositiveInteger, type CommandContext } from "./command.ts";
import { quote } from "./terminal/hints.ts";
import { printResult, printRows, type OutputOptions } from "./terminal/output.ts";
import { writeSecret, writeUseHint } from "./terminal/secret.ts";

export function createKeysCommand(context: CommandContext): Command {
  const keys = new Command("keys").description("Creates, lists, rotates and revokes API keys.");
  addCreateCommand(keys, context);
  keys
    .command("list")
    .description("Lists the API keys of an account, with their ids and first characters.")
    .argument("<account>", "the account's name")
    .option("--json", "print the keys as JSON")
    .action(async (account: string, options: OutputOptions) => {
      const keysOfAccount = await requestAdmin(context, "GET /admin/keys", { query: { account } });
      const rows = keysOfAccount.map((key) =>
        Object.assign(key, { scopes: key.scopes.join(", ") }),
      );
      await printRows(context, options, COLUMNS, rows, {
        ifEmpty: `${account} has no keys; create one: ${context.programName} keys create ${quote(account)}`,
      });
    });
  keys
    .command("rotate")
    .summary("Replaces an API key by a new one, and prints the new one.")
    .description(
      "Creates an API key with the account, label, scopes and end of another one, and prints only " +
        "the new key. The old key stays valid for the overlap, so that clients can change over.",
    )
    .argument("<id>", 'the id of the old key, which "keys list" shows', parsePositiveInteger)
    .option("--overlap <duration>", "how long the old key stays valid: 0, 10m, 12h or 7d", "24h")
    .option("--json", "print the new key, its id and the end of the old key as JSON")
    .action(async (id: number, { overlap, ...options }: OutputOptions & { overlap: string }) => {
      const rotated = await requestAdmin(context, "POST /admin/keys/{id}/rotate", {
        parameters: { id },
        body: { overlap },
      });
      writeKey(context, options, rotated);
      if (options.json !== true)
        context.writeErr(`Key ${id} is valid until ${rotated.old_expires_at}\n`);
    });
  keys
    .command("revoke")
    .description("Revokes an API key permanently. All processes refuse it within a second.")
    .argument(
      "<id_or_key>",
      'the id of the key, which "keys list" shows, or the key itself',
      parseKeyReference,
    )
    .option("--json", "print the id and the time as JSON")
    .action(async (reference: KeyReference, options: OutputOptions) => {
      const { id, revoked_at } = await requestAdmin(context, "DELETE /admin/keys", {
        body: reference,
      });
      const sentence = `Key ${id} is revoked since ${revoked_at}`;
      await printResult(context, options, { id, revoked_at }, sentence);
    });
  return keys;
}

type KeyReference = { readonly id: number } | { readonly key: string };

function parseKeyReference(text: string): KeyReference {
  if (text.startsWith("cm_")) return { key: text };
  const id = parseInteger(text, { min: 1 });
  if (id !== undefined) return { id };
  throw new InvalidArgumentError("It must be the id of a key, or a key, which begins with cm_.");
}

function addCreateCommand(keys: Command, context: CommandContext): void {
  keys
    .command("create")
    .summary("Creates an API key and prints it.")
    .description(
      "Creates an API key and prints only the key. It cannot be shown again, because only its " +
        "hash is stored.",
    )
    .argument("<account>", "the name of the account that pays for requests with the key")
    .option("--label <text>", "a note about what the key is for")
    .option(
      "--scope <scopes>",
      "what the key may do: read, creators, or both with a comma between (default: both)",
      parseList,
    )
    .option("--expires <when>", "when it expires: after 12h, 90d or 8w, or at an instant")
    .option("--json", "print the key and its id as JSON")
    .action(async (account: string, { json, scope, ...options }: CreateOptions) => {
      const created = await requestAdmin(context, "POST /admin/keys", {
        body: { account, ...options, ...(scope && { scopes: scope }) },
      });
      writeKey(context, { ...(json && { json }) }, created);
      await writeUseHint(context, "key", (url) => [
        `Try it: curl -H "X-API-Key: KEY" ${url}/api/account`,
        `See the numbers: ${url}/#key=KEY`,
      ]);
    });
}

function writeKey(
  context: CommandContext,
  options: OutputOptions,
  response: { readonly id: number; readonly key: string },
): void {
  const { id, key } = response;
  writeSecret(context, options, key, {
    name: `Key ${id}`,
    revocation: `keys revoke ${id}`,
    response,
  });
}

interface CreateOptions extends OutputOptions {
  readonly label?: string;
  readonly scope?: string[];
  readonly expires?: string;
}

/** Parses a list with commas; a repeated option adds to it. */
function parseList(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(",")];
}

const COLUMNS = [
  "id",
  "begins_with",
  "label",
  "scopes",
  "created_at",
  "expires_at",
  "revoked_at",
  "replaced_by",
] as const;
