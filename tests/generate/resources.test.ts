/** Holds the generated types and tables to the schemas and declarations. */
import { expect, test } from "bun:test";
import type { Static } from "@sinclair/typebox";
import type { ResourceSchemas } from "../../core/resources/generated/schemas.ts";
import type { Resources } from "./resource-names.ts";
import { generateResources } from "./resources.ts";
import { generateTables } from "./tables.ts";

type Statics = { [Name in keyof ResourceSchemas]: Static<ResourceSchemas[Name]> };

/** Without it, a type with one more optional field is assignable in both directions. */
type DeepRequired<Value> = { [Field in keyof Value]-?: DeepRequired<Value[Field]> };

/** Whether each of two types is assignable to the other. */
type AreSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

test("the generated files are what `bun run generate` writes", async () => {
  for (const files of [await generateResources(), await generateTables()]) {
    for (const [file, text] of files) expect(await Bun.file(file).text()).toBe(text);
  }
});

test("Static of each schema is the plain type of its name (the compiler checks it)", () => {
  const areSame: AreSame<Statics, Resources> = true;
  const areSameInside: AreSame<DeepRequired<Statics>, DeepRequired<Resources>> = true;
  // @ts-expect-error A type with one more field, which is optional.
  const isNarrower: AreSame<DeepRequired<{ a: 1; b?: 2 }>, DeepRequired<{ a: 1 }>> = true;
  expect([areSame, areSameInside, isNarrower]).toEqual([true, true, true]);
});
