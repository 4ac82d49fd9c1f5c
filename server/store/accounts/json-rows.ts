/** Rows that a statement takes as one argument: a JSON array of arrays. */

/**
 * Declares the columns of such rows. A row is an array, because `json_extract()` finds an index
 * faster than a name. `toValues` returns its values in the order of the columns; `undefined` is
 * NULL.
 */
export function createJsonRows<Row>(
  columns: readonly string[],
  toValues: (row: Row) => readonly unknown[],
) {
  const columnsSql = columns.map((name, index) => `json_extract(value, '$[${index}]') AS ${name}`);
  return {
    serialize: (rows: readonly Row[]): string => JSON.stringify(rows.map(toValues)),

    selectSql: `
    SELECT key AS position, ${columnsSql.join(", ")}
    FROM json_each(?1)`,
  };
}
