/** Prints a new secret, which cannot be shown again. */
import { describeError, readAdvice } from "../../system-errors.ts";
import { requestAdmin } from "../admin-client.ts";
import { CommandError, type CommandContext } from "../command.ts";
import { formatJson } from "./output.ts";
import { writeHint } from "./process-io.ts";

/**
 * Prints a secret, or with `--json` the whole response. It is written at once, to notice a failure.
 *
 * @param created.name Its name in the message of a failure: `Key 7`.
 * @param created.revocation The command that revokes it.
 * @throws {CommandError} If it cannot be written: nobody has it then.
 */
export function writeSecret(
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

/**
 * Says on a terminal how to use a new secret. The hints leave it out: only standard output has it.
 *
 * @param describeUse Returns the hints for the address of the service.
 */
export async function writeUseHint(
  context: CommandContext,
  noun: string,
  describeUse: (url: string) => readonly string[],
): Promise<void> {
  if (context.errTerminal === undefined) return;
  const { address } = await requestAdmin(context, "GET /admin/owner");
  writeHint(context, [
    `Keep the ${noun}: it is not shown again`,
    ...(address === null ? [`Start the service: ${context.programName} serve`] : []),
    ...describeUse(address ?? "http://127.0.0.1:3000"),
  ]);
}
