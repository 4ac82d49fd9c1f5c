/** Prints a new secret, which cannot be shown again. */
import { describeError } from "../../system-errors.ts";
import { CommandError, type CommandContext } from "../command.ts";
import { formatJson, type OutputOptions } from "./output.ts";

/**
 * Prints a secret, or with `--json` the whole response. It is written at once, to notice a failure.
 *
 * @param created.name What the message of a failure calls it: `Key 7`.
 * @param created.revocation The command that revokes it.
 * @throws {CommandError} If it cannot be written: nobody has it then.
 */
export function writeSecret(
  { writeOutSync }: CommandContext,
  { json }: OutputOptions,
  secret: string,
  created: { readonly name: string; readonly revocation: string; readonly response: object },
): void {
  try {
    writeOutSync(json === true ? formatJson(created.response) : `${secret}\n`);
  } catch (error) {
    throw new CommandError(
      `${created.name} was created, but could not be written: ${describeError(error)}; ` +
        `revoke it with ${created.revocation}, and create another`,
    );
  }
}
