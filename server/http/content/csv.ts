/** Chooses whether a client gets CSV instead of JSON, and encodes lists as CSV. */
import { setImmediate } from "node:timers/promises";
import type { TObject, TSchema } from "@sinclair/typebox";
import { encodeCsvRow } from "../../../core/csv.ts";
import { parseChoiceParameter, type GetQueryValues } from "../../../core/parameters.ts";
import { readRawParts } from "../../raw-json.ts";

/** The values of the parameter `format`. */
export const FORMATS = ["json", "csv"] as const;

export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/** What a row of a table can be read from. */
type Item = Readonly<Record<string, unknown>>;

/** How a response is written as CSV: a list of it, one row for each item. */
export interface CsvTable<Body = unknown> {
  /** The fields of an item, those of nested objects behind a dot: `change.views`. */
  readonly columns: readonly string[];
  /** The file in which browsers save it. */
  readonly fileName: string;
  /** The items of a body, or of a part of it. */
  getItems(body: Body): readonly Item[];
  /** Headers that only the CSV has. */
  getHeaders?(body: Body): Readonly<Record<string, string>>;
}

const encoder = new TextEncoder();

/** Items that one step encodes: about a millisecond. */
const STEP_ITEMS = 500;

/**
 * Whether a client accepts `text/csv` and prefers it to `application/json`. Wildcards mean JSON,
 * and so do equal preferences.
 *
 * @param accept The header `Accept`.
 *
 * @example
 * prefersCsv("text/csv, application/json;q=0.9"); // true
 */
export function prefersCsv(accept: string | null): boolean {
  if (accept === null || !/text\/csv/i.test(accept)) return false;
  const weights = parseAccept(accept);
  const csv = weights.get("text/csv") ?? 0;
  const json = weights.get("application/json");
  if (json !== undefined) return csv > json;
  const wildcard = weights.get("application/*") ?? weights.get("*/*") ?? 0;
  return csv > 0 && csv >= wildcard;
}

/** Parses the weights of media ranges: RFC 9110, section 12.5.1. */
function parseAccept(accept: string): Map<string, number> {
  const ranges = accept.split(",").map((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    return [
      name,
      /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0,
    ] as const;
  });
  return new Map(ranges);
}

/**
 * Parses the parameter `format`.
 *
 * @throws {DomainError} `Invalid Request` for any other value than `json` and `csv`.
 */
export function parseFormat(getValues: GetQueryValues, isCsvPreferred: boolean) {
  return parseChoiceParameter("format", getValues, FORMATS, isCsvPreferred ? "csv" : "json");
}

/** Lists the columns of a table of items with a schema. */
export function listColumns({ properties }: TObject, prefix = ""): string[] {
  return Object.entries<TSchema>(properties).flatMap(([name, schema]) =>
    schema["type"] === "object"
      ? listColumns(schema as TObject, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  );
}

/**
 * Encodes a table, in steps between which the process serves other requests.
 *
 * @returns The pieces of the text in order.
 */
export async function encodeTable<Body>(
  { columns, getItems }: CsvTable<Body>,
  body: Body,
): Promise<(string | Uint8Array)[]> {
  const paths = columns.map((column) => column.split("."));
  const pieces: (string | Uint8Array)[] = [encodeCsvRow(columns)];
  for (const part of readRawParts(body)) {
    const items = getItems(part);
    for (let from = 0; from < items.length; from += STEP_ITEMS) {
      if (pieces.length > 1) await setImmediate();
      const rows = items
        .slice(from, from + STEP_ITEMS)
        .map((item) => encodeCsvRow(paths.map((path) => readPath(item, path))));
      pieces.push(encoder.encode(rows.join("")));
    }
  }
  return pieces;
}

function readPath(item: Item, path: readonly string[]): unknown {
  let value: unknown = item;
  for (const name of path) value = (value as Item | undefined)?.[name];
  return value;
}

/** Creates the headers of a table. */
export function createTableHeaders<Body>({ fileName, getHeaders }: CsvTable<Body>, body: Body) {
  return {
    ...getHeaders?.(body),
    "content-type": CSV_TYPE,
    "content-disposition": createDisposition(fileName),
  };
}

/** Makes browsers save a response: RFC 6266, with a name for older ones. */
function createDisposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^\w.-]/g, "_");
  const encoded = encodeURIComponent(fileName).replaceAll(/['()*!]/g, escapeCharacter);
  const extended = encoded === ascii ? "" : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${ascii}"${extended}`;
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
