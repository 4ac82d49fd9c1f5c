/**
 * For each source: a world, a fake platform that serves it, and the collector that polls the fake. Also
 * a context to run the collector without the service.
 */
import { afterEach, beforeEach } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { createSourceRateLimiter } from "../../../server/collectors/rate-limiter.ts";
import { createSourceClient } from "../../../server/collectors/client/source-client.ts";
import { platformOf, type SourceName } from "./source-names.ts";
import { SETUPS, type PlatformSetup } from "./platform-setups.ts";
import { createWorld, NOW, type World, type WorldPlan } from "./world.ts";

/** A world, a fake platform that serves it, and the collector that polls the fake. */
export interface PlatformFixture<S extends SourceName = SourceName> extends PlatformSetup<S> {
  readonly source: S;
  readonly clock: { now: number };
  readonly world: World;
  close(): Promise<void>;
}

/** Opens a fixture. By default the first owner has several pages of items, the others three items. */
export async function openFixture<S extends SourceName>(
  source: S,
  plan: Partial<WorldPlan> = {},
): Promise<PlatformFixture<S>> {
  const clock = { now: NOW };
  const itemsPerOwner = (owner: number) => (owner === 0 ? 260 : 3);
  const isVideo = platformOf(source) === "video";
  const world = createWorld({
    beganAt: NOW - 90 * DAY_MS,
    endsAt: NOW + 10 * DAY_MS,
    channels: isVideo ? 120 : 0,
    shortsEach: itemsPerOwner,
    creators: isVideo ? 0 : 120,
    postsEach: itemsPerOwner,
    ...plan,
  });
  const setup = await SETUPS[source](world, () => clock.now);
  return { source, clock, world, ...setup, close: setup.fake.close };
}

/**
 * Opens a fixture before each test and closes it after. Call it at the top of a file or in
 * `describe()`.
 *
 * @returns The fixture of the test that is running; its properties change from test to test.
 */
export function useFixture<S extends SourceName>(
  source: S,
  plan: Partial<WorldPlan> = {},
): PlatformFixture<S> {
  let opened: PlatformFixture<S> | undefined;
  beforeEach(async () => {
    opened = await openFixture(source, plan);
  });
  afterEach(() => opened?.close());
  const current = () => {
    if (opened === undefined) throw new Error("The fixture is open in tests only");
    return opened;
  };
  return {
    source,
    get clock() {
      return current().clock;
    },
    get world() {
      return current().world;
    },
    get fake() {
      return current().fake;
    },
    get collector() {
      return current().collector;
    },
    get owners() {
      return current().owners;
    },
    get unknown() {
      return current().unknown;
    },
    get listingPath() {
      return current().listingPath;
    },
    listingPathOf: (owner) => current().listingPathOf(owner),
    close: () => current().close(),
  };
}

/** Options of a client in a test. */
export type TestClientOptions = Partial<Parameters<typeof createSourceClient>[0]>;

/** Creates the context of the fixture's collector, and counts the units that it uses. */
export function createTestContext(fixture: PlatformFixture, options: TestClientOptions = {}) {
  const takenUnits = new Map<string, number>();
  const retryReasons: string[] = [];
  const { signal } = new AbortController();
  const client = createSourceClient({
    collector: fixture.collector,
    now: () => fixture.clock.now,
    rateLimiter: createSourceRateLimiter(fixture.collector, () => fixture.clock.now),
    reserveUnit: async (bucket) => {
      takenUnits.set(bucket, (takenUnits.get(bucket) ?? 0) + 1);
      return true;
    },
    startTimeout: fixture.fake.startTimeout,
    maxRetries: 2,
    retryMinMs: 1,
    getSignal: () => signal,
    report: (event) => {
      if (event.kind === "retried") retryReasons.push(event.reason);
    },
    ...options,
  });
  return {
    request: client.request,
    /** Units used, of all buckets. */
    taken: () => takenUnits.values().reduce((sum, units) => sum + units, 0),
    /** Why requests were retried. */
    retried: (): readonly string[] => retryReasons,
  };
}

/** The context of a fixture's collector. */
export type TestContext = ReturnType<typeof createTestContext>;
