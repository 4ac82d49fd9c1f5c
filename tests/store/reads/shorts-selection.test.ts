/** Holds the SQL of `/shorts` to the order and the selection of core/shorts.ts. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  compareShortPositions,
  pageAfter,
  type ShortPosition,
  type ShortsRequest,
} from "../../../core/shorts.ts";
import { parseObservation } from "../../../core/observations.ts";
import { formatInstant } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { instants, listings, NOW, positions } from "../../support/arbitraries/values.ts";
import { withDatabase } from "../../support/store/database.ts";

const requests: fc.Arbitrary<ShortsRequest> = fc.record(
  {
    limit: fc.integer({ min: 1, max: 45 }),
    before: fc.oneof(fc.nat(3), instants),
    after: positions,
  },
  { requiredKeys: ["limit"] },
);

async function publish(database: Database, shorts: readonly ShortPosition[]): Promise<void> {
  const observedAt = formatInstant(NOW);
  const channel = { kind: "channel", observedAt, id: "c" };
  const observed = shorts.map(({ id, publishedAt }) => ({
    kind: "short",
    observedAt,
    channel: "c",
    id,
    publishedAt: formatInstant(publishedAt),
  }));
  await writeObservations(
    database,
    [channel, ...observed].map((value) => parseObservation(value, NOW)),
  );
}

describe("createVideoReads().shorts()", () => {
  test("lists what pageAfter() selects, in the order of compareShortPositions()", async () => {
    await fc.assert(
      fc.asyncProperty(
        listings,
        fc.array(requests, { minLength: 1, maxLength: 8 }),
        async (listing, queries) => {
          await withDatabase(async (database) => {
            await publish(database, listing);
            const sorted = listing.toSorted(compareShortPositions);
            const [first] = sorted;
            // The cursor of a listed short as well as one of any other position.
            const ofListed = first === undefined ? [] : [{ limit: 45, after: first }];
            for (const request of [...queries, ...ofListed]) {
              const { body } = await createVideoReads(database).shorts("c", request);
              const { items, ...pagination } = pageAfter(sorted, request);
              expect(body.shorts.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
              expect(body.pagination).toEqual(pagination);
            }
          });
        },
      ),
      { numRuns: 40 },
    );
  });
});
