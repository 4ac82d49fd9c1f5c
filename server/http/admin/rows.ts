/** Turns rows of the store into resources: names in snake case, instants as texts. */
import type { Static, TObject } from "@sinclair/typebox";
import { formatInstant } from "../../../core/time.ts";

type CamelCase<Name extends string> = Name extends `${infer Start}_${infer Rest}`
  ? `${Start}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The fields that a row needs for a resource. An instant is in milliseconds since 1970 UTC. */
type RowOf<Resource> = {
  readonly [Name in keyof Resource & string as CamelCase<Name>]: Name extends "at" | `${string}_at`
    ? number | Extract<Resource[Name], null>
    : Readonly<Resource[Name]>;
};

/** Creates a resource, which has the fields of its schema alone, however many the row has. */
export function toResource<Schema extends TObject>(
  { properties }: Schema,
  row: RowOf<Static<Schema>>,
): Static<Schema> {
  const values = new Map<string, unknown>(Object.entries(row));
  const fields = Object.keys(properties).map((name) => {
    const value = values.get(name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase()));
    const isInstant = typeof value === "number" && /(?:^|_)at$/.test(name);
    return [name, isInstant ? formatInstant(value) : value];
  });
  return Object.fromEntries(fields) as Static<Schema>;
}
