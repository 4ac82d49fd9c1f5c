/** Chooses whether a client gets CSV instead of JSON, and encodes lists as CSV. */
import { setImmediate } from "node:timers/promises";
import { Type, type TObject, type TSchema } from "@sinclair/typebox";
import Negotiator from "negotiator";
import { encodeCsvRow } from "../../csv/rows.ts";
import { readRawJson, readRawParts } from "../../raw-json.ts";

export const FORMATS = ["json", "csv"] as const;

export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

interface Table {
  /** The fields of an item. A dot precedes a field of a nested object: `change.views`. */
  readonly columns: readonly string[];
  /** Where the list is in the body: `followers.USER.metrics`. */
  readonly items: string;
  readonly fileName: string;
}

const encoder = new TextEncoder();

/** Items that one step encodes: about a millisecond. */
const STEP_ITEMS = 500;

/** Whether a client names and prefers `text/csv` (RFC 9110, 12.5.1): browsers accept any type. */
export function prefersCsv(accept: string | null): boolean {
  if (accept === null || !/text\/csv/i.test(accept)) return false;
  const negotiator = new Negotiator({ headers: { accept } });
  return negotiator.mediaType(["application/json", CSV_TYPE]) === CSV_TYPE;
}

/** Lists the columns of a list in a body with a schema: the fields that every item has. */
export function listColumns(schema: TSchema, items: string): string[] {
  const fields = items.split(".").flatMap((name) => ["properties", name]);
  // Of a choice of bodies, the first is the one without parameters.
  const body: TSchema = schema["anyOf"]?.[0] ?? schema;
  const item = readPath<TObject>(body, [...fields, "items"]);
  return listFields(Type.Pick(item, item.required ?? []));
}

function listFields({ properties }: TObject, prefix = ""): string[] {
  return Object.entries<TSchema>(properties).flatMap(([name, schema]) =>
    schema["type"] === "object"
      ? listFields(schema as TObject, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  );
}

/** Encodes a table to UTF-8, in steps between which the process serves other requests. */
export async function encodeTable({ columns, items: itemsField, fileName }: Table, body: unknown) {
  const paths = columns.map((column) => column.split("."));
  const pieces = [encoder.encode(encodeCsvRow(columns))];
  const itemsPath = itemsField.split(".");
  for (const part of readRawParts(body)) {
    const items = readRawJson(readPath<readonly object[]>(part, itemsPath));
    for (let from = 0; from < items.length; from += STEP_ITEMS) {
      if (pieces.length > 1) await setImmediate();
      const rows = items
        .slice(from, from + STEP_ITEMS)
        .map((item) => encodeCsvRow(paths.map((path) => joinArray(readPath(item, path)))));
      pieces.push(encoder.encode(rows.join("")));
    }
  }
  const headers = { "content-type": CSV_TYPE, "content-disposition": createDisposition(fileName) };
  return { bytes: Buffer.concat(pieces), headers };
}

/** Writes an array of objects in one cell: `2026-11-20:7 2026-11-21:9`. */
function joinArray(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((part: object) => Object.values(part).join(":")).join(" ");
}

function readPath<Value>(container: unknown, path: readonly string[]): Value {
  let value = container;
  for (const name of path) value = value === undefined ? value : Reflect.get(Object(value), name);
  return value as Value;
}

/** Makes browsers save a response: RFC 6266, with a name for older ones. */
function createDisposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^\w.-]/g, "_");
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const extended = encoded === ascii ? "" : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${ascii}"${extended}`;
}
