/** Arguments that are numbers. */
import { InvalidArgumentError } from "commander";
import { MAX_INTEGER } from "../../core/limits.ts";
import { parseInteger } from "../../core/parameters.ts";

/** Reads an amount of credits, or an identifier that is a number. */
export function parseAmount(text: string): number {
  const amount = parseInteger(text);
  if (amount !== undefined && amount > 0) return amount;
  throw new InvalidArgumentError(
    `It must be a whole number from 1 to ${MAX_INTEGER}, got ${JSON.stringify(text)}.`,
  );
}
