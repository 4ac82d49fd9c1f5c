/**
 * Reads with replicas in several processes: each shows what was acknowledged before it, whichever
 * process acknowledged it. REPLICA_PAIRS=10000 is the long form.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../core/time.ts";
import { startReplicaCluster, type ClusterMember } from "../support/processes/replica-cluster.ts";
import { hasSqld } from "../support/processes/sqld.ts";

const PAIRS = Number(process.env["REPLICA_PAIRS"] ?? 60);

/** A pair takes about 30 ms, doubled twice for a busy machine. */
const TIMEOUT_MS = 60_000 + PAIRS * 120;

const start = Date.now() - 2 * 24 * 60 * MINUTE_MS;

const toIso = (ms: number) => new Date(ms).toISOString();

/** What shows the newest observation of a user: the path, and its followers in the body. */
const READS: readonly {
  readonly name: string;
  readonly path: (user: string, pair: number) => string;
  readonly findFollowers: (body: never, user: string) => number | undefined;
}[] = [
  {
    name: "details",
    path: (user) => `/api/microblog/${user}/details`,
    findFollowers: (body: { followers_count: number }) => body.followers_count,
  },
  {
    name: "details that are not cached",
    path: (user, pair) => `/api/microblog/${user}/details?_pair=${pair}`,
    findFollowers: (body: { followers_count: number }) => body.followers_count,
  },
  {
    name: "a history",
    path: (user) => `/api/microblog/${user}/history?interval=hour&from=${toIso(start)}&limit=1000`,
    findFollowers: (body: { history: { followers_count: number }[] }) =>
      Math.max(...body.history.map(({ followers_count: count }) => count)),
  },
  {
    name: "the list",
    path: () => "/api/microblog/users?sort=followers",
    findFollowers: (
      body: { users: { username: string; followers_count: number }[] },
      user: string,
    ) => body.users.find(({ username }) => username === user)?.followers_count,
  },
];

describe.skipIf(!hasSqld()).each([
  ["two databases", true],
  ["one database", false],
])("three processes on %s, two of them with replicas", (_, isSplit) => {
  let cluster: Awaited<ReturnType<typeof startReplicaCluster>>;
  beforeAll(async () => {
    cluster = await startReplicaCluster(["none", "file", "file"], { isSplit });
  }, 60_000);
  afterAll(() => cluster.close(), 60_000);

  const memberOf = (index: number): ClusterMember => {
    const member = cluster.members[index % cluster.members.length];
    if (member === undefined) throw new Error("There is no such process");
    return member;
  };

  test(
    `GET shows what another process acknowledged before it, with its instant (${PAIRS} pairs)`,
    async () => {
      const stale: string[] = [];
      for (let pair = 0; pair < PAIRS; pair++) {
        const user = `user${pair % 5}`;
        const observedAt = toIso(start + pair * 1000);
        await memberOf(pair).observe({
          kind: "user",
          observedAt,
          username: user,
          followers_count: pair,
        });
        const reader = memberOf(pair + 1 + (Math.floor(pair / 3) % 2));
        const read = READS[Math.floor(pair / 3) % READS.length];
        if (read === undefined) throw new Error("There is no such read");
        const response = await reader.get(read.path(user, pair), cluster.key);
        const body: unknown = await response.json();
        expect([response.status, body]).toEqual([200, expect.anything()]);
        if (read.findFollowers(body as never, user) !== pair) stale.push(`${pair}: ${read.name}`);
        const shown = response.headers.get("x-observed-at");
        if (read.name !== "the list" && shown !== observedAt) stale.push(`${pair}: instant`);
      }
      expect(stale).toEqual([]);
      const counts = await Promise.all(cluster.members.slice(1).map((each) => each.countReads()));
      const replica = counts.reduce((sum, count) => sum + count.replica, 0);
      const primary = counts.reduce((sum, count) => sum + count.primary, 0);
      process.stdout.write(`${replica} queries of replicas, ${primary} of the primary\n`);
      // A replica of one database copies all other commits, too, and may never be in time.
      if (isSplit) expect(replica).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  test(
    `a grant through one process pays for reads through another one at once (${PAIRS} pairs)`,
    async () => {
      const [first, second] = [memberOf(0), memberOf(1)];
      await first.admin("POST", "accounts", { name: "granted" });
      const created = (await first.admin("POST", "keys", { account: "granted" })) as {
        key: string;
      };
      const refused: number[] = [];
      for (let pair = 0; pair < PAIRS; pair++) {
        const [granting, reading] = pair % 2 === 0 ? [first, second] : [second, first];
        await granting.admin("POST", "grants", { account: "granted", amount: 1 });
        const response = await reading.get("/api/microblog/user0/details", created.key);
        await response.arrayBuffer();
        if (response.status !== 200) refused.push(pair);
      }
      expect(refused).toEqual([]);
      const response = await second.get("/api/microblog/user0/details", created.key);
      expect(response.status).toBe(402);
      await response.arrayBuffer();
    },
    TIMEOUT_MS,
  );
});
