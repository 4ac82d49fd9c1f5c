/** Compares server/SCALING.md with the simulation, and the simulation with what was measured. */
import { describe, expect, test } from "bun:test";
import { findSection, readDoc } from "../../support/docs.ts";
import { formatMarkdown, TABLES } from "./tables.ts";
import { compareWithMeasured } from "./validation.ts";

describe("server/SCALING.md", () => {
  test.each(Object.entries(TABLES))(
    "has the table that the simulation prints: %s",
    async (heading, createTable) => {
      const section = findSection(await readDoc("server/SCALING.md"), heading);
      expect(section).toContain(`${formatMarkdown(createTable())}\n`);
    },
  );
});

describe("compareWithMeasured()", () => {
  /** The document says why the others are off: no caches, no preemption, other programs. */
  const EXPECTED = new Set(["commits", "server, ms", "p50, ms", "commits a second"]);
  const isOff = /not cached|namespaces/;

  test("is at most a third off in commits, server time and medians", () => {
    const compared = compareWithMeasured().filter(
      ({ name, quantity }) => EXPECTED.has(quantity) && !isOff.test(name),
    );
    expect(compared.length).toBeGreaterThan(20);
    for (const { name, quantity, simulated, measured } of compared) {
      const error = Math.abs(simulated / measured - 1);
      expect({ name, quantity, isNear: error < 0.34 }).toEqual({ name, quantity, isNear: true });
    }
  });
});
