/**
 * Clients poll three processes, two of them with replicas, during imports through all of them: no
 * response is older than an earlier one of any process. READER_SECONDS=60 is the long form.
 */
import { describe, test } from "bun:test";
import { expectMonotonicReads } from "../support/monotonic-reads.ts";
import { ADMIN_TOKEN, startReplicaCluster } from "../support/processes/replica-cluster.ts";
import { hasSqld } from "../support/processes/sqld.ts";

const SECONDS = Number(process.env["READER_SECONDS"] ?? 5);

describe.skipIf(!hasSqld())("three processes on two databases, two of them with replicas", () => {
  test(
    `GET /api/microblog never responds with an older state (${SECONDS} s of imports)`,
    async () => {
      const cluster = await startReplicaCluster(["none", "file", "file"]);
      try {
        await expectMonotonicReads({
          urls: cluster.members.map(({ url }) => url),
          key: cluster.key,
          adminToken: ADMIN_TOKEN,
          seconds: SECONDS,
          blocksMin: 2,
          readsMin: SECONDS,
          // On a busy machine, a replica may be behind until the imports end.
          isComplete: async () => {
            const members = cluster.members.slice(1);
            const counts = await Promise.all(members.map((each) => each.countReads()));
            return counts.every(({ replica }) => replica > 0);
          },
        });
      } finally {
        await cluster.close();
      }
    },
    90_000 + SECONDS * 2000,
  );
});
