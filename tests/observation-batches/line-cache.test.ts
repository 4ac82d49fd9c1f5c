/** Tests that createLineParser() parses repeated lines, which are cached, as it parses each alone. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { createBatchBuilder } from "../../server/observation-batches/observation-batch.ts";
import { createLineParser, parseLines } from "../../server/observation-batches/parse-lines.ts";
import { observationArbitrary, nearlyValidArbitrary, NOW } from "../support/arbitraries/values.ts";
import { ENTITY_KINDS } from "../../core/kinds.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** Adds lines to one builder, and lists its observations and the rejected lines. */
function parseTogether(lines: readonly string[]) {
  const builder = createBatchBuilder();
  const { rejected } = createLineParser(builder)({ bytes: encode(lines.join("\n")), now: NOW });
  return { rejected, observations: builder.build().flatMap(listObservations).toSorted() };
}

/** Parses each line alone, so that none is known. */
function parseAlone(lines: readonly string[]) {
  const results = lines.map((line) => parseLines({ bytes: encode(line), now: NOW }));
  const rejected = results.flatMap((result, index) =>
    result.rejected.map(({ reason }) => ({ line: index + 1, reason })),
  );
  const observations = results.flatMap(({ batches }) => batches.flatMap(listObservations));
  return { rejected, observations: observations.toSorted() };
}

function listObservations(batch: ReturnType<typeof parseLines>["batches"][number]): string[] {
  const width = batch.counts.length / batch.instants.length;
  return Array.from(batch.instants, (instant, index) => {
    const entityId = batch.entityIds[batch.ends.findIndex((end) => end > index)];
    const attributes = batch.attributeSets[batch.attributeIndexes[index] ?? 0];
    const counts = Array.from(batch.counts.subarray(index * width, (index + 1) * width), String);
    return JSON.stringify({ kind: batch.kind, entityId, instant, attributes, counts });
  });
}

const START = '{"kind":"channel","observedAt":"2026-11-01T00:00:00.000Z","id":"UC1"';
const NAMED = `${START},"displayName":"A 1"`;

describe("createLineParser()", () => {
  test.each([
    [`${NAMED},"subscribers":12}`],
    [`${NAMED},"subscribers":0,"viewCount":1099511627775}`],
    [`${NAMED}, "subscribers": 12, "viewCount": 3}`],
    [`${NAMED},"subscribers":null}\r`],
    [`${NAMED},"subscribers":12,"subscribers":null}`],
    [`${NAMED},"subscribers":12,"subscribers":13}`],
    [`${NAMED},"note":{"observedAt":"2026-11-01T00:00:00.000Z","subscribers":5},"viewCount":7}`],
    [`${NAMED},"observedAt":"2026-11-02T00:00:00.000Z"}`],
    ['{"kind":"channel","observedAt":"2026-11-20","id":"UC2","displayName":"B","a":"b"}'],
    [`${START},"displayName":"\\"observedAt\\":\\\\"}`],
    [`${START},"displayName":"x\\"observedAt":"2026-11-01T00:00:00.000Z"}`],
  ])("parses %s and lines that are almost the same as each alone", (line) => {
    const digits = ["1", "00", "-5", "1.5", "1e3", "9007199254740993", "99999999999999999999"];
    const instants = [
      "2026-11-02T01:02:03.004Z",
      "2026-02-30T00:00:00.000Z",
      "2999-01-01T00:00:00.000Z",
    ];
    const variants = [
      ...digits.map((text) => line.replace(/\d+(?=[,}])/, text)),
      ...instants.map((text) => line.replace("2026-11-01T00:00:00.000Z", text)),
      line.replace("2026-11-01T00:00:00.000Z", '2026-11-20","id":"UC3aaa'),
      line.replace('2026-11-20","id":"UC2","d', "2026-11-01T00:00:00.000Z"),
      line.replace("A 1", "A 2"),
      line.slice(0, -1),
      `${line}}`,
      `\uFEFF${line}`,
      "",
    ];
    const lines = [line, line, line, ...variants, ...variants, ...variants, line];
    expect(parseTogether(lines)).toEqual(parseAlone(lines));
  });

  test.each(ENTITY_KINDS.map((kind) => [kind] as const))("parses %ss that repeat", (kind) => {
    const lines = fc.sample(fc.oneof(observationArbitrary(kind), nearlyValidArbitrary(kind)), {
      seed: 1,
      numRuns: 500,
    });
    const texts = lines.map((value) => JSON.stringify(value));
    const repeated = [...texts, ...texts, ...texts];
    expect(parseTogether(repeated)).toEqual(parseAlone(repeated));
  });
});
