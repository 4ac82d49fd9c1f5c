/** The commands `keys` (API keys) and `tokens` (administrators); each secret is printed once. */
import { InvalidArgumentError, type Command } from "commander";
import { parseInteger } from "../../core/parameters.ts";
import { PUBLIC_URL } from "../settings.ts";
import { KEY_SCOPES } from "../stored-names.ts";
import { describeError, readAdvice } from "../system-errors.ts";
import {
  CommandError,
  parsePositiveInteger,
  requestAdmin,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { formatJson, printResult, printRows } from "./terminal/output.ts";
import { writeHint } from "./terminal/process-io.ts";
import { quote } from "./terminal/style.ts";

export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("Creates, lists, rotates and revokes API keys.");
  addCreateCommand(keys, context);
  keys
    .command("list")
    .description("Lists the API keys of an account, with their ids and first characters.")
    .argument("<account>", "the account's name")
    .option("--json", "print the keys as JSON")
    .action(async (account: string) => {
      const found = await requestAdmin(context, "GET /admin/keys", { query: { account } });
      const rows = found.map((key) => Object.assign({}, key, { scopes: key.scopes.join(", ") }));
      const create = `${context.programName} keys create ${quote(account)}`;
      await printRows(context, rows, { ifEmpty: `${account} has no keys; create one: ${create}` });
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
    .action(async (id: number, { overlap }: { overlap: string }) => {
      const rotated = await requestAdmin(context, "POST /admin/keys/{id}/rotate", {
        parameters: { id },
        body: { overlap },
      });
      writeKey(context, rotated);
      if (!context.isJson) context.writeErr(`Key ${id} is valid until ${rotated.old_expires_at}\n`);
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
    .action(async (body: KeyReference) => {
      const { id, revoked_at } = await requestAdmin(context, "DELETE /admin/keys", { body });
      await printResult(context, { id, revoked_at }, `Key ${id} is revoked since ${revoked_at}`);
    });
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
      `what the key may do: ${KEY_SCOPES.join(", ")}, or several with commas between (default: all)`,
      parseList,
    )
    .option("--expires <when>", "when it expires: after 12h, 90d or 8w, or at an instant")
    .option("--json", "print the key and its id as JSON")
    .action(async (account: string, { label, scope, expires }: CreateOptions) => {
      const created = await requestAdmin(context, "POST /admin/keys", {
        body: { account, label, expires, scopes: scope },
      });
      writeKey(context, created);
      await writeUseHint(context, "key", (url) => [
        `Try it: curl -H "X-API-Key: KEY" ${url}/api/account`,
        `See the numbers: ${url}/#key=KEY`,
      ]);
    });
}

type CreateOptions = TextOptions<"label" | "expires"> & { scope?: string[] };

type KeyReference = { readonly id: number } | { readonly key: string };

function parseKeyReference(text: string): KeyReference {
  if (text.startsWith("cm_")) return { key: text };
  const id = parseInteger(text, { min: 1 });
  if (id !== undefined) return { id };
  throw new InvalidArgumentError("It must be the id of a key, or a key, which begins with cm_.");
}

const parseList = (text: string, before: readonly string[] = []): string[] =>
  before.concat(text.split(","));

function writeKey(
  context: CommandContext,
  response: { readonly id: number; readonly key: string },
) {
  const { id, key } = response;
  writeSecret(context, key, { name: `Key ${id}`, revocation: `keys revoke ${id}`, response });
}

export function addTokensCommand(program: Command, context: CommandContext): void {
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

/** Prints a secret, or with `--json` the response. Writes synchronously, to notice a failure. */
function writeSecret(
  { writeOutSync, isJson }: CommandContext,
  secret: string,
  created: { readonly name: string; readonly revocation: string; readonly response: object },
): void {
  try {
    writeOutSync(isJson ? formatJson(created.response) : `${secret}\n`);
  } catch (error) {
    throw new CommandError(
      `${created.name} was created, but could not be written: ${describeError(error)}; ` +
        `revoke it with ${created.revocation}, and create another`,
      { advice: readAdvice(error) },
    );
  }
}

/** Hints on a terminal how to use a new secret. Only standard output has the secret itself. */
async function writeUseHint(
  context: CommandContext,
  noun: string,
  describeUse: (url: string) => readonly string[],
): Promise<void> {
  if (context.errTerminal === undefined) return;
  const { address } = await requestAdmin(context, "GET /admin/owner");
  const publicUrl = PUBLIC_URL.parse(context.environment["PUBLIC_URL"] ?? "");
  writeHint(context, [
    `Keep the ${noun}: it is not shown again`,
    ...(address === null ? [`Start the service: ${context.programName} serve`] : []),
    ...describeUse(address ?? publicUrl ?? "http://127.0.0.1:3000"),
  ]);
}
