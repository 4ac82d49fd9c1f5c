/** Holds the SQL that finds the channel of a name to core's `findChannel()`. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { findChannel } from "../../../core/responses/video.ts";
import { DomainError } from "../../../core/errors.ts";
import { parseObservation } from "../../../core/observations.ts";
import { formatInstant } from "../../../core/time.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { withDatabase } from "../../support/store/database.ts";

const NAMES = ["a", "A", "soup", "SOUP", "Soup", "ä", "Ä", "😀", "！"] as const;

const channels = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom<string[]>(...NAMES),
    username: fc.option(fc.constantFrom<string[]>(...NAMES), { freq: 4 }),
    observedAt: fc.nat(2),
  }),
  { selector: ({ id }) => id, maxLength: 9 },
);

test("createVideoReads().channel() and channelBatch() find the channel that findChannel() finds", async () => {
  await fc.assert(
    fc.asyncProperty(channels, async (observed) => {
      await withDatabase(async (database) => {
        const lines = observed.map(({ observedAt, ...channel }) => ({
          kind: "channel",
          observedAt: formatInstant(observedAt),
          ...channel,
        }));
        await writeObservations(
          database,
          lines.map((line) => parseObservation(line, 9)),
        );
        const reads = createVideoReads(database);
        const expected = NAMES.map((name) => findChannel(name, observed)?.id);
        const batch = await reads.channelBatch(NAMES);
        expect(batch.map((found) => (found instanceof DomainError ? undefined : found.id))).toEqual(
          expected,
        );
        for (const [index, name] of NAMES.entries()) {
          const found = await reads.channel(name).catch(() => undefined);
          expect(found?.body.id).toBe(expected[index]);
        }
      });
    }),
    { numRuns: 60 },
  );
}, 60_000);
