/** A replica server that is killed, suspended, cut off or behind: reads go on, and are fresh. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findFreePort } from "../support/network/free-port.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { waitUntil } from "../support/wait.ts";
import { startReplicaCluster } from "../support/processes/replica-cluster.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

/** Doubled for a busy machine; a read that the replica hangs takes 250 ms more. */
const READ_WITHIN_MS = 2000;

const RECOVERED_WITHIN_MS = 30_000;

const start = Date.now() - 86_400_000;

describe.skipIf(!hasSqld())("a process with a replica server", () => {
  let replica: Awaited<ReturnType<typeof startSqld>>;
  let proxy: Awaited<ReturnType<typeof startBlackholeProxy>>;
  let cluster: Awaited<ReturnType<typeof startReplicaCluster>>;
  let step = 0;
  beforeAll(async () => {
    const grpcAddress = `127.0.0.1:${findFreePort()}`;
    replica = await startSqld({
      durability: "relaxed",
      extraArguments: ["--enable-namespaces", "--primary-grpc-url", `http://${grpcAddress}`],
    });
    proxy = await startBlackholeProxy(replica.url);
    cluster = await startReplicaCluster(["none", { url: proxy.url }], {
      extraArguments: ["--grpc-listen-addr", grpcAddress],
    });
  }, 60_000);
  afterAll(async () => {
    await cluster.close();
    proxy.close();
    await replica.close();
  }, 60_000);

  /** Writes through one process, and reads through the one with the replica. */
  async function writeAndRead(): Promise<number> {
    const [writer, reader] = cluster.members;
    if (writer === undefined || reader === undefined) throw new Error("A process is missing");
    const observedAt = new Date(start + ++step * 1000).toISOString();
    await writer.observe({ kind: "user", observedAt, username: "a", followers_count: step });
    const startedAt = performance.now();
    const response = await reader.get("/api/microblog/a/details", cluster.key);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ followers_count: step });
    expect(response.headers.get("x-observed-at")).toBe(observedAt);
    return performance.now() - startedAt;
  }

  const countReplicaReads = async () => (await cluster.members[1]?.countReads())?.replica ?? 0;

  /** The service is ready, whatever its replica does. */
  async function readReadiness() {
    const response = await fetch(`${cluster.members[1]?.url}/readyz`);
    expect(response.status).toBe(200);
    return (await response.json()) as { replica: { status: string; reason: string | null } };
  }

  async function readUntilServed(): Promise<void> {
    const before = await countReplicaReads();
    const deadline = performance.now() + RECOVERED_WITHIN_MS;
    while ((await countReplicaReads()) === before) {
      expect(await writeAndRead()).toBeLessThan(READ_WITHIN_MS);
      expect(performance.now()).toBeLessThan(deadline);
    }
  }

  test(
    "GET is answered by the replica, once it has what was acknowledged",
    readUntilServed,
    60_000,
  );

  test.each([
    ["killed", () => replica.kill(), () => replica.restart("relaxed")],
    ["suspended", () => replica.pause(), () => replica.resume()],
    ["cut off", () => proxy.blackhole(), () => undefined],
  ])(
    "GET is answered in time and fresh while the replica is %s, and by the replica afterwards",
    async (how, begin, end) => {
      await readUntilServed();
      expect(await readReadiness()).toMatchObject({ replica: { status: "ok", reason: null } });
      await begin();
      // Nothing has to be read for that.
      await waitUntil(async () => {
        const { status, reason } = (await readReadiness()).replica;
        return status === "away" && reason !== null;
      });
      // One that is cut off answers over a new connection.
      if (how !== "cut off")
        expect(await cluster.members[1]?.readMetric("creator_metrics_replica_away")).toBe(1);
      for (let read = 0; read < 10; read++) {
        expect(await writeAndRead()).toBeLessThan(READ_WITHIN_MS);
      }
      await end();
      await readUntilServed();
      await waitUntil(async () => (await readReadiness()).replica.status === "ok");
      expect(await cluster.members[1]?.readMetric("creator_metrics_replica_away")).toBe(0);
    },
    90_000,
  );
});
