import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { Ajv } from "ajv";
import * as fc from "fast-check";
import { ENTITY_KINDS, ENTITY_FIELDS } from "../../core/kinds.ts";
import { parseObservation } from "../../core/observations.ts";
import * as creatorsSchemas from "../../core/resources/creators.ts";
import { Instant } from "../../core/resources/fields.ts";
import * as sSchemas from "../../core/resources/observations.ts";
import { formatInstant } from "../../core/time.ts";
import { instants, nearlyValidArbitrary, NOW } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const matchesJsonSchema = new Ajv({ strict: false }).compile(sSchemas.ObservationLine);

describe("ENTITY_FIELDS", () => {
  test("has the kinds of ENTITY_KINDS", () => {
    const names: string[] = ENTITY_KINDS.toSorted();
    expect(names).toEqual(Object.keys(ENTITY_FIELDS).toSorted());
  });
});

describe("ObservationLine", () => {
  const near = fc.constantFrom(...ENTITY_KINDS).chain(nearlyValidArbitrary);
  const isAccepted = (value: unknown) =>
    catchDomainError(() => parseObservation(value, NOW)) === undefined;

  test("accepts exactly what parseObservation() accepts of the past", () => {
    let [accepted, refused] = [0, 0];
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: near }, fc.jsonValue()), (value) => {
        // Without undefined, like the value of a line.
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        const isRight = isAccepted(parsed);
        if (isRight) accepted++;
        else refused++;
        const checks = [matchesJsonSchema(parsed), Value.Check(sSchemas.ObservationLine, parsed)];
        expect([value, ...checks]).toEqual([value, isRight, isRight]);
      }),
      { numRuns: 1000 },
    );
    // The property is meaningless unless both cases occur.
    expect(accepted).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });
});

describe("Instant", () => {
  test("matches everything that formatInstant() returns", () => {
    const pattern = new RegExp(Instant.pattern ?? "^$");
    fc.assert(fc.property(instants, (instant) => pattern.test(formatInstant(instant))));
  });
});

describe("CreatorRequest", () => {
  test("rejects a creator of another platform", () => {
    const isValid = (platform: string) =>
      Value.Check(creatorsSchemas.CreatorRequest, { creator: "nasa", platform });
    expect([isValid("microblog"), isValid("video")]).toEqual([true, false]);
  });
});
