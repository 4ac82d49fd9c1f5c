/**
 * Parses rows of CSV as observations of one kind: finds the kind, checks columns, reads cells. It
 * also names the formats of observation files.
 */
import { createInvalidRequestError, quoteValue } from "../../core/errors.ts";
import {
  ENTITY_FIELDS,
  ENTITY_KINDS,
  type EntityFields,
  type EntityKind,
} from "../../core/kinds.ts";
import { parseInteger } from "../../core/parameters.ts";
import type { CsvCell } from "./rows.ts";

export const OBSERVATION_FORMATS = ["ndjson", "csv"] as const;

export function listObservationColumns(kind: EntityKind): string[] {
  const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const names = [idField, ...Object.keys(attributes), ...counts];
  return ["kind", "observedAt", ...new Set(names)];
}

export function findRowKind(header: readonly CsvCell[], cells: readonly CsvCell[]): EntityKind {
  const index = header.indexOf("kind");
  const kind = ENTITY_KINDS.find((name) => name === cells[index]);
  if (kind !== undefined) return kind;
  const kinds = ENTITY_KINDS.join(", ");
  throw createInvalidRequestError(
    index === -1
      ? `Without a column kind, the kind must be given: ${kinds}`
      : `kind must be one of ${kinds}, got ${quoteValue(cells[index])}`,
  );
}

/**
 * Creates a parser of a table's rows, whose results `parseObservation()` checks: a cell that is not
 * valid for its field stays text, and that check rejects it. An empty cell is no value; an empty
 * cell in quotes is an empty text in the column of a text or a link.
 *
 * @throws {DomainError} If a column is unknown, repeated, or missing. The parser throws it if a row
 * has more or fewer cells than the header, or another kind.
 */
export function createObservationRowParser(kind: EntityKind, header: readonly CsvCell[]) {
  checkHeader(kind, header);
  const columns = header.map((name) => ({
    name: name ?? "",
    parseCell: createCellParser(kind, name ?? ""),
  }));
  return (cells: readonly CsvCell[]): Record<string, unknown> => {
    if (cells.length !== columns.length) {
      throw createInvalidRequestError(
        `A row must have as many cells as the header, ${columns.length}, got ${cells.length}`,
      );
    }
    const record: Record<string, unknown> = { kind };
    for (const [index, { name, parseCell }] of columns.entries()) {
      const value = parseCell(cells[index] ?? null);
      if (value !== undefined) record[name] = value;
    }
    if (record["kind"] === kind) return record;
    throw createInvalidRequestError(
      `kind must be ${kind} as in the whole file, got ${quoteValue(record["kind"])}`,
    );
  };
}

function checkHeader(kind: EntityKind, header: readonly CsvCell[]): void {
  const allowed = listObservationColumns(kind);
  const list = `the columns of the kind ${kind}, separated by commas, are ${allowed.join(", ")}`;
  const unknown = header.find((name) => name === null || !allowed.includes(name));
  if (unknown !== undefined) {
    throw createInvalidRequestError(`Unknown column ${quoteValue(unknown ?? "")}: ${list}`);
  }
  const repeated = header.find((name, index) => header.indexOf(name) !== index);
  if (repeated !== undefined) {
    const message = `A column must be there once, got ${quoteValue(repeated)} twice`;
    throw createInvalidRequestError(message);
  }
  const { idField, attributes }: EntityFields = ENTITY_FIELDS[kind];
  const identifiers = Object.keys(attributes).filter((name) => attributes[name] === "identifier");
  const missing = ["observedAt", idField, ...identifiers].find((name) => !header.includes(name));
  if (missing !== undefined) throw createInvalidRequestError(`Missing column ${missing}: ${list}`);
}

function createCellParser(kind: EntityKind, column: string): (cell: CsvCell) => unknown {
  const { attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const type = counts.includes(column) ? "count" : attributes[column];
  if (type === "text" || type === "link") return (cell) => cell ?? undefined;
  return (cell) => {
    if (cell === null || cell === "") return undefined;
    if (type === "count") return parseInteger(cell) ?? cell;
    if (type === "boolean") return /^true$/i.test(cell) || (/^false$/i.test(cell) ? false : cell);
    return cell;
  };
}
