/** Every schema of the entry can be used with TypeBox alone: no format or kind is registered. */
import { describe, expect, test } from "bun:test";
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { ERROR_STATUSES } from "../../core/errors.ts";
import * as schemas from "../../core/resources/schemas.ts";

const TEXTS = ["a", "2026-11-20", "2026-11-20T08:15:30.123Z", "2026-11-20T08:15:30.123"];

/** Creates a value that has every field, and an element in every array. */
function createSample(schema: TSchema): unknown {
  if (KindGuard.IsObject(schema)) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, createSample(field)]));
  }
  if (KindGuard.IsArray(schema)) return [createSample(schema.items)];
  if (KindGuard.IsRecord(schema)) {
    return { 1: createSample(Object.values(schema.patternProperties)[0] ?? schema) };
  }
  if (KindGuard.IsUnion(schema)) return createSample(schema.anyOf[0] ?? schema);
  if (KindGuard.IsLiteral(schema)) return schema.const;
  if (KindGuard.IsInteger(schema)) return 7;
  if (KindGuard.IsNumber(schema)) return 0.5;
  if (KindGuard.IsBoolean(schema)) return true;
  const names: string[] = schema["enum"] ?? TEXTS;
  const pattern = new RegExp(schema["pattern"] ?? "");
  return names.find((name) => pattern.test(name));
}

function compile([name, schema]: readonly [string, unknown]) {
  if (!KindGuard.IsSchema(schema)) throw new Error("Not a schema");
  return { name, schema, sample: createSample(schema), compiled: TypeCompiler.Compile(schema) };
}

/** Compiled here, because workers compile nothing after their start. */
const SCHEMAS = Object.entries<unknown>(schemas).map(compile);

describe("@creator-metrics/core/schema", () => {
  test("has no format, which TypeBox would only know if a program registers it", () => {
    expect(SCHEMAS.filter(({ schema }) => JSON.stringify(schema).includes('"format"'))).toEqual([]);
  });

  test.each(SCHEMAS)("$name can be compiled and checked by TypeBox", (row) => {
    const { schema, sample, compiled } = row;
    expect([...Value.Errors(schema, sample)]).toEqual([]);
    expect([Value.Check(schema, sample), compiled.Check(sample)]).toEqual([true, true]);
    const wrong = { ...Object(sample), [Object.keys(Object(sample))[0] ?? ""]: Symbol("wrong") };
    expect([Value.Check(schema, wrong), compiled.Check(wrong)]).toEqual([false, false]);
  });

  test("ServiceError accepts the names of ERROR_STATUSES alone", () => {
    const accepts = (error: string) =>
      Value.Check(schemas.ServiceError, { error, message: "There is no path /x" });
    expect(Object.keys(ERROR_STATUSES).filter(accepts)).toEqual(Object.keys(ERROR_STATUSES));
    expect(["", "Found", "Not Found\n", "Not Found Not Found"].filter(accepts)).toEqual([]);
  });

  test.each([
    ["2026-02-29T08:15:30.123Z", false],
    ["2024-02-29T08:15:30.123Z", true],
    ["2026-11-20T24:00:00.000Z", false],
    ["2026-11-20T08:15:30.123", false],
    ["2026-11-20", false],
  ])("Instant of a user: %s is valid: %j", (created_at, isValid) => {
    const user = SCHEMAS.find(({ name }) => name === "UserDetails")?.sample;
    expect(Value.Check(schemas.UserDetails, { ...Object(user), created_at })).toBe(isValid);
  });

  test.each([
    ["2026-11-30", true],
    ["2026-11-31", false],
    ["2026-11-30T00:00:00.000Z", false],
  ])("the day of AccountDetails: %s is valid: %j", (day, isValid) => {
    const usage = [{ day, requests: 1, credits: 1, refunded: 0 }];
    const account = { account: "acme", balance: 1, usage };
    expect(Value.Check(schemas.AccountDetails, account)).toBe(isValid);
  });
});
