/**
 * Measures how collecting slows reads: the slowest responses of a service that collects from many
 * creators at full speed, against a service that does not collect.
 */
import { handleOf, openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import { createWorld } from "../support/platforms/world.ts";
import { seedDatabase, createFreshPaths } from "./seed.ts";
import type { LoadResult, LoadTarget } from "./load-generator.ts";
import { atMost, withServers, type BenchContext } from "./bench-context.ts";
import { createRatioRow, type ReportRow } from "./report.ts";
import {
  copyBenchDatabase,
  createBenchDatabase,
  databaseSettings,
  verbCommand,
  type BenchDatabase,
} from "./service-process.ts";
import type { BenchServer } from "./workspace.ts";

const PART = "collecting";
const DAY_MS = 86_400_000;
const ROUNDS = 3;
const SECONDS = 3;
const CONNECTIONS = 16;
const USERS = 40;

/** So many that the first poll cycle uses its whole request budget. */
const CREATORS = 1000;

/** Measures the 99th percentile of response times, with and without collecting. */
export async function measureCollecting({
  workspace,
  load,
  logProgress,
}: BenchContext): Promise<ReportRow[]> {
  logProgress("collecting: adding creators to the monitoring list");
  const world = createWorld({
    beganAt: Date.now() - 20 * DAY_MS,
    endsAt: Date.now() + DAY_MS,
    creators: CREATORS,
    postsEach: 100,
  });
  const bluesky = await openFakeBluesky({ world, now: Date.now, logSize: 1 });
  try {
    const store = await createBenchDatabase(workspace, "collecting");
    await seedDatabase(workspace, store, USERS);
    const start = (database: BenchDatabase, isCollecting: boolean): Promise<BenchServer> => {
      const own = { COLLECT: isCollecting ? "on" : "off", BLUESKY_API_URL: bluesky.baseUrl };
      return workspace.start(verbCommand("serve"), {
        settings: { ...databaseSettings(database.file), PORT: "0", ...own },
      });
    };
    const watching = await start(store, false);
    await withServers({ watching }, async () => {
      const watched = world.users.map((user) =>
        monitorCreator(watching, store.key, handleOf(user)),
      );
      await Promise.all(watched);
    });
    const target = (name: string, server: BenchServer): LoadTarget => ({
      name: `details and followers, ${name}`,
      server,
      key: store.key,
      paths: [createFreshPaths(USERS).details, createFreshPaths(USERS).followers],
    });
    const results: Record<"busy" | "calm", LoadResult[]> = { busy: [], calm: [] };
    const requests: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      logProgress(`collecting: round ${round + 1} of ${ROUNDS}`);
      for (const name of round % 2 === 0
        ? (["calm", "busy"] as const)
        : (["busy", "calm"] as const)) {
        const copy = await copyBenchDatabase(store, `collecting-${name}-${round}`);
        const before = bluesky.served();
        const side = await start(copy, name === "busy");
        await withServers({ side }, async () => {
          results[name].push(await load(target(name, side), CONNECTIONS, SECONDS));
        });
        if (name === "busy") requests.push((bluesky.served() - before) / SECONDS);
      }
    }
    const compare = (what: string, of: (loaded: LoadResult) => number) => ({
      part: PART,
      what: `${what}, ${Math.round(Math.min(...requests))} requests/s to the source / none`,
      unit: "ms",
      ours: results.busy.map(of),
      theirs: results.calm.map(of),
    });
    return [
      createRatioRow(compare("median of reads", ({ medianMs }) => medianMs)),
      createRatioRow({ ...compare("p99 of reads", ({ p99Ms }) => p99Ms), target: atMost(3) }),
    ];
  } finally {
    await bluesky.close();
  }
}

async function monitorCreator(
  { origin }: BenchServer,
  key: string,
  creator: string,
): Promise<void> {
  const response = await fetch(`${origin}/api/creators`, {
    method: "PATCH",
    headers: { "X-API-Key": key, "content-type": "application/json" },
    body: JSON.stringify({ platform: "microblog", creator }),
  });
  if (response.status !== 201) throw new Error(`${creator} was not added: ${response.status}`);
}
