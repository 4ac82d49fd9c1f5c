/** Takes the first of some values. @throws {Error} There is none. */
export function first<Value>(values: Iterable<Value>): Value {
  for (const value of values) return value;
  throw new Error("There is no first value");
}
