/** The types of schemas, derived from the types of resources. */
import type * as Type from "@sinclair/typebox";
import type { TSchema } from "@sinclair/typebox";

/** A schema whose values have a type. */
export interface SchemaOf<Value> extends TSchema {
  /** Has no value: the type of values. */
  static: Value;
}

/** Whether a type is a union. */
export type IsUnion<Value, Whole = Value> = Value extends unknown
  ? [Whole] extends [Value]
    ? false
    : true
  : never;

/** Whether a type has fields of any name. */
export type IsRecord<Value> = string extends keyof Value ? true : false;

// The conditions always hold, but to find that out, TypeScript 5 would go too deep.
/** The schema of an object with these fields. */
export type ObjectOf<Fields> = Fields extends Type.TProperties ? Type.TObject<Fields> : never;
/** The schema of an array of these items. */
export type ArrayOf<Item> = Item extends TSchema ? Type.TArray<Item> : never;
/** The schema of a field that can be absent. */
export type OptionalOf<Field> = Field extends TSchema ? Type.TOptional<Field> : never;

/** The schema of a field: arrays have that of their items, objects those of their fields. */
export type FieldSchema<Value> = [Value] extends [readonly (infer Item)[]]
  ? ArrayOf<FieldSchema<Item>>
  : [Value, IsUnion<Value>, IsRecord<Value>] extends [object, false, false]
    ? ObjectOf<FieldSchemas<Value>>
    : SchemaOf<Value>;

/** The schemas of the fields of a resource. */
export type FieldSchemas<Resource> = {
  [Field in keyof Resource]-?: object extends Pick<Resource, Field>
    ? OptionalOf<FieldSchema<Required<Resource>[Field]>>
    : FieldSchema<Resource[Field]>;
};

/** A type with every optional field required, at any depth. */
export type DeepRequired<Value> = { [Field in keyof Value]-?: DeepRequired<Value[Field]> };

/** The name of the field of {@link Exact}. */
export declare const EXACT: unique symbol;

/**
 * Lets the compiler reject a schema of a narrower type, or of one with more fields, which is
 * assignable to `SchemaOf` the type. Like `static`, it has no value.
 */
export interface Exact<Value> {
  /** The type, so that it must be the same. */
  readonly [EXACT]: (value: DeepRequired<Value>) => void;
}

/** What `strictObject()` and `openObject()` create. */
export type ExactObject<Properties extends Type.TProperties> = Type.TObject<Properties> &
  Exact<Type.Static<Type.TObject<Properties>>>;

/** The schema of an object with exactly the fields of a type. */
export type ObjectSchema<Resource> = ObjectOf<FieldSchemas<Resource>> & Exact<Resource>;
