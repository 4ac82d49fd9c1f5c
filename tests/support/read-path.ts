/** Reads nested fields of values whose types are not known. */

/** The value of nested fields that are known to be there. */
export function readPath<Value>(value: unknown, ...names: readonly string[]): Value {
  return names.reduce<never>((inner, name) => Reflect.get(inner, name), value as never);
}
