/**
 * What collecting costs the readers: the slowest answers of a service that has just begun to
 * collect from many creators, as fast as its pace lets it, beside one that does not collect.
 */
import { handleOf, openBluesky } from "../support/platforms/bluesky.ts";
import { createWorld } from "../support/platforms/world.ts";
import { fill, freshPaths } from "./fill.ts";
import type { Loaded, Target } from "./load.ts";
import { atMost, withSides, type Surroundings } from "./parts.ts";
import { ratioRow, type Row } from "./report.ts";
import { copyStore, makeStore, settingsOf, verb, type Store } from "./service.ts";
import type { Side } from "./workspace.ts";

const PART = "collecting";
const DAY_MS = 86_400_000;
const ROUNDS = 3;
const SECONDS = 3;
const CONNECTIONS = 16;
const USERS = 40;

/** So many that the first turn uses all that its pace allows at once. */
const CREATORS = 1000;

/** Measures the slowest of a hundred answers, with and without collecting. */
export async function collecting({ workspace, load, say }: Surroundings): Promise<Row[]> {
  say("collecting: making creators to be watched");
  const world = createWorld({
    beganAt: Date.now() - 20 * DAY_MS,
    endsAt: Date.now() + DAY_MS,
    creators: CREATORS,
    postsEach: 100,
  });
  const bluesky = await openBluesky({ world, now: Date.now, logSize: 1 });
  try {
    const store = await makeStore(workspace, "collecting");
    await fill(workspace, store, USERS);
    const start = (of: Store, isCollecting: boolean): Promise<Side> => {
      const own = { COLLECT: isCollecting ? "on" : "off", BLUESKY_API_URL: bluesky.baseUrl };
      return workspace.start(verb("serve"), {
        settings: { ...settingsOf(of.file), PORT: "0", ...own },
      });
    };
    const watching = await start(store, false);
    await withSides({ watching }, async () => {
      const watched = world.users.map((user) => watch(watching, store.key, handleOf(user)));
      await Promise.all(watched);
    });
    const target = (name: string, { origin }: Side): Target => ({
      name: `details and followers, ${name}`,
      origin,
      key: store.key,
      paths: [freshPaths(USERS).details, freshPaths(USERS).followers],
    });
    const found: Record<"busy" | "calm", Loaded[]> = { busy: [], calm: [] };
    const requests: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      say(`collecting: round ${round + 1} of ${ROUNDS}`);
      for (const name of round % 2 === 0
        ? (["calm", "busy"] as const)
        : (["busy", "calm"] as const)) {
        const copy = await copyStore(store, `collecting-${name}-${round}`);
        const before = bluesky.served();
        const side = await start(copy, name === "busy");
        await withSides({ side }, async () => {
          found[name].push(await load(target(name, side), CONNECTIONS, SECONDS));
        });
        if (name === "busy") requests.push((bluesky.served() - before) / SECONDS);
      }
    }
    const compare = (what: string, of: (loaded: Loaded) => number) => ({
      part: PART,
      what: `${what}, ${Math.round(Math.min(...requests))} requests/s to the source / none`,
      unit: "ms",
      ours: found.busy.map(of),
      theirs: found.calm.map(of),
    });
    return [
      ratioRow(compare("median of reads", ({ medianMs }) => medianMs)),
      ratioRow({ ...compare("p99 of reads", ({ p99Ms }) => p99Ms), target: atMost(3) }),
    ];
  } finally {
    await bluesky.close();
  }
}

async function watch({ origin }: Side, key: string, creator: string): Promise<void> {
  const response = await fetch(`${origin}/api/creators`, {
    method: "PATCH",
    headers: { "X-API-Key": key, "content-type": "application/json" },
    body: JSON.stringify({ platform: "microblog", creator }),
  });
  if (response.status !== 201) throw new Error(`${creator} is not watched: ${response.status}`);
}
