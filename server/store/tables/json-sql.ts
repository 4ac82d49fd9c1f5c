/** JSON arrays as SQL reads them. */

/**
 * An element of a row's JSON array, as SQL. `json_extract` takes half the time that `->>` does.
 *
 * @param array The array, as SQL; by default the value of the one `json_each`.
 */
export function jsonExtractSql(index: number, array = "value"): string {
  return `json_extract(${array}, '$[${index}]')`;
}
