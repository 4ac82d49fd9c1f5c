/** Reads files of observations, lines or CSV, as blocks of lines. */
import type { EntityKind } from "../../../core/kinds.ts";
import type { ObservationFormat } from "../../csv/observation-rows.ts";
import { createReadError } from "../command.ts";
import { openInput, readBlocks, type InputBlock } from "./line-blocks.ts";
import { readCsvBlocks } from "./csv-blocks.ts";

/** The format and the kind of files of observations. */
export interface InputOptions {
  /** By default, the one that the name of the file tells. */
  readonly format?: ObservationFormat;
  /** The kind of all rows of CSV; by default the one in the column `kind`. */
  readonly kind?: EntityKind;
}

export function isCsv(file: string, { format }: InputOptions): boolean {
  return format === undefined ? /\.csv(?:\.gz)?$/.test(file) : format === "csv";
}

/**
 * Reads the blocks of a file.
 *
 * @param file `-` is standard input.
 * @param blockBytes The size of a block, roughly.
 * @param onBytes Receives the number of bytes read.
 * @throws {CommandError} Naming the file.
 */
export async function* readInput(
  file: string,
  options: InputOptions,
  blockBytes: number,
  onBytes: (count: number) => void = () => undefined,
): AsyncGenerator<InputBlock> {
  try {
    const input = openInput(file, onBytes);
    if (isCsv(file, options)) yield* readCsvBlocks(input, options.kind, blockBytes);
    else yield* readBlocks(input, blockBytes);
  } catch (error) {
    throw createReadError(file, error);
  }
}

/** Checks the columns and the kind of a file. @throws {CommandError} If they are wrong. */
export async function checkInput(file: string, options: InputOptions): Promise<void> {
  if (!isCsv(file, options)) return;
  // The kind is checked with the first row.
  for await (const _ of readInput(file, options, 1)) break;
}
