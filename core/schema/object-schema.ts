/** The types of schemas, derived from the types of resources. */
import type * as Type from "@sinclair/typebox";
import type { TSchema } from "@sinclair/typebox";

/** A schema whose values have a type. */
interface SchemaOf<Value> extends TSchema {
  static: Value;
}

type IsUnion<Value, Whole = Value> = Value extends unknown
  ? [Whole] extends [Value]
    ? false
    : true
  : never;

type IsRecord<Value> = string extends keyof Value ? true : false;

// The conditions always hold, but to find that out, TypeScript 5 would go too deep.
type ObjectOf<Fields> = Fields extends Type.TProperties ? Type.TObject<Fields> : never;
type ArrayOf<Item> = Item extends TSchema ? Type.TArray<Item> : never;
type OptionalOf<Field> = Field extends TSchema ? Type.TOptional<Field> : never;

/** The schema of a field: arrays have that of their items, objects those of their fields. */
type FieldSchema<Value> = [Value] extends [readonly (infer Item)[]]
  ? ArrayOf<FieldSchema<Item>>
  : [Value, IsUnion<Value>, IsRecord<Value>] extends [object, false, false]
    ? ObjectOf<FieldSchemas<Value>>
    : SchemaOf<Value>;

type FieldSchemas<Resource> = {
  [Field in keyof Resource]-?: object extends Pick<Resource, Field>
    ? OptionalOf<FieldSchema<Required<Resource>[Field]>>
    : FieldSchema<Resource[Field]>;
};

/** A type with every optional field required, at any depth. */
type DeepRequired<Value> = { [Field in keyof Value]-?: DeepRequired<Value[Field]> };

declare const EXACT: unique symbol;

/**
 * Lets the compiler reject a schema of a narrower type, or of one with more fields, which is
 * assignable to `SchemaOf` the type. Like `static`, it has no value.
 */
interface Exact<Value> {
  readonly [EXACT]: (value: DeepRequired<Value>) => void;
}

/** What `strictObject()` and `openObject()` create. */
export type ExactObject<Properties extends Type.TProperties> = Type.TObject<Properties> &
  Exact<Type.Static<Type.TObject<Properties>>>;

/** The schema of an object with exactly the fields of a type. */
export type ObjectSchema<Resource> = ObjectOf<FieldSchemas<Resource>> & Exact<Resource>;
