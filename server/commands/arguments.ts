/** Arguments that are numbers. */
import { InvalidArgumentError } from "commander";
import { MAX_WHOLE } from "../../core/limits.ts";
import { parseWhole } from "../../core/parameters.ts";

/** Reads an amount of credits, or an identifier that is a number. */
export function readAmount(text: string): number {
  const amount = parseWhole(text);
  if (amount !== undefined && amount > 0) return amount;
  throw new InvalidArgumentError(
    `It must be a whole number from 1 to ${MAX_WHOLE}, got ${JSON.stringify(text)}.`,
  );
}
