/**
 * Clients that poll users during imports: no observation disappears, no response is older than an
 * earlier one, and imported observations show at once, whichever of several services answers.
 */
import { expect } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { waitUntil } from "./wait.ts";

const READERS = 4;
/** Observations of a user: all of them fit on one page. */
const STEPS = 100;
const STEP_MS = 60_000;
const FAULTS_MAX = 20;
/** The time for `isComplete`, long enough for a machine that other tests use too. */
const COMPLETE_WITHIN_MS = 30_000;
/** Between imports, replicas have time to catch up. */
const PAUSE_MS = 1000;

/** A user who has n followers, and one tweet with n likes, when step n is observed. */
interface ObservedUser {
  readonly name: string;
  /** The instant of step 0. */
  readonly start: number;
  /** The steps whose import was acknowledged. */
  readonly acknowledged: Set<number>;
}

/** The steps that a response shows: all of them in a list, else the newest. */
interface ObservedSteps {
  readonly steps: readonly number[];
  readonly isListing: boolean;
}

const toIso = (ms: number) => new Date(ms).toISOString();

/** Creates lines of the steps of a user, and other lines that keep the import busy. */
function createLines(
  { name, start }: ObservedUser,
  steps: readonly number[],
  others: number,
): string {
  const lines: object[] = steps.flatMap((step) => {
    const observedAt = toIso(start + step * STEP_MS);
    const tweet = { id: `${name}-1`, username: name, created_at: toIso(start), likes: step };
    return [
      { kind: "user", observedAt, username: name, followers_count: step },
      { kind: "tweet", observedAt, ...tweet },
    ];
  });
  for (let index = 0; index < others; index++) {
    const observedAt = toIso(start + Math.floor(Math.random() * DAY_MS));
    lines.push({ kind: "short", observedAt, channel: "c", id: `s${index}`, views: index });
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** The other lines of a block. Short and long imports have different races. */
const randomLineCount = () => (Math.random() < 0.5 ? 0 : Math.floor(Math.random() * 1000));

/** The blocks of an import: steps in order, but some come late. */
function* generateBlocks(): Generator<number[]> {
  const late: number[] = [];
  const block: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    (step > 0 && Math.random() < 0.3 ? late : block).push(step);
    if (Math.random() < 0.5) continue;
    if (Math.random() < 0.5) block.push(...late.splice(0, 2));
    if (block.length > 0) yield block.splice(0);
  }
  yield [...block, ...late];
}

/** Parses the steps of a response; throws if the response contradicts itself. */
const READ_PARSERS: Record<string, (user: ObservedUser, answer: never) => ObservedSteps> = {
  [`followers?days=14&limit=${STEPS}`]: parseFollowers,
  "tweets?days=14": parseTweets,
  details: (_, { followers_count }: { followers_count: number }) => ({
    steps: [followers_count],
    isListing: false,
  }),
};

interface Followers {
  followers: { USER: { metrics: { followers: number; change: number; timestamp: string }[] } };
}

function parseFollowers({ start }: ObservedUser, { followers }: Followers): ObservedSteps {
  const metrics = followers.USER.metrics.toReversed();
  const steps = metrics.map(({ timestamp }) => (Date.parse(timestamp) - start) / STEP_MS);
  const expected = steps.map((step, index) => [step, step - (steps[index - 1] ?? step)]);
  expect(metrics.map(({ followers: count, change }) => [count, change])).toEqual(expected);
  return { steps, isListing: true };
}

interface Tweets {
  tweets: Record<string, { timestamp: string; metrics: { likes: number; timestamp: string }[] }>;
}

function parseTweets({ name, start }: ObservedUser, { tweets }: Tweets): ObservedSteps {
  const { metrics = [], timestamp = "" } = tweets[`${name}-1`] ?? {};
  const steps = metrics.map((point) => (Date.parse(`${point.timestamp}Z`) - start) / STEP_MS);
  expect(metrics.map(({ likes }) => likes)).toEqual(steps);
  if (steps.length > 0) expect(Date.parse(timestamp)).toBe(start + (steps.at(-1) ?? 0) * STEP_MS);
  return { steps, isListing: true };
}

/** How the clients run. */
interface Run {
  /** The services. Each request goes to one of them. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly adminToken: string;
  readonly seconds: number;
  /** The least blocks and reads of each client, also on a slow machine. */
  readonly blocksMin: number;
  readonly readsMin: number;
  /** Then the clients go on, with an import a second, until this holds. */
  readonly isComplete?: () => Promise<boolean>;
}

/** Describes what a response lacks of the steps that are due. */
function findFault(
  { steps, isListing }: ObservedSteps,
  due: ReadonlySet<number>,
): string | undefined {
  const newest = Math.max(-1, ...due);
  const newestShown = Math.max(-1, ...steps);
  if (newestShown < newest) return `the newest step is ${newestShown} after ${newest}`;
  const missing = isListing ? [...due.difference(new Set(steps))] : [];
  return missing.length === 0 ? undefined : `the steps ${missing} are missing`;
}

/** Reads a user; `due` are the steps that the response must have. */
type Reader = (
  user: ObservedUser,
  what: string,
  due: ReadonlySet<number>,
) => Promise<ObservedSteps>;

/** Picks one of several services. */
const pick = (urls: readonly string[]): string =>
  urls[Math.floor(Math.random() * urls.length)] ?? "";

function createReader(urls: readonly string[], key: string, faults: string[]): Reader {
  return async (user, what, due) => {
    const response = await fetch(`${pick(urls)}/api/microblog/${user.name}/${what}`, {
      headers: { "x-api-key": key },
    });
    expect(response.status).toBe(200);
    const view = READ_PARSERS[what]?.(user, (await response.json()) as never);
    if (view === undefined) throw new Error(`There is no read ${what}`);
    const fault = findFault(view, due);
    if (fault !== undefined) faults.push(`${user.name} ${what}: ${fault}`);
    return view;
  };
}

/** Imports user after user, and reads right after each import. */
async function importUsers(
  { urls, adminToken, blocksMin }: Run,
  users: ObservedUser[],
  read: Reader,
  end: number,
) {
  let blocks = 0;
  while (Date.now() < end || blocks <= blocksMin) {
    const start = Date.now() - 2 * DAY_MS;
    const user = { name: `user${users.length}`, start, acknowledged: new Set<number>() };
    for (const block of generateBlocks()) {
      const response = await fetch(`${pick(urls)}/admin/observations`, {
        method: "POST",
        headers: { authorization: `Bearer ${adminToken}` },
        body: createLines(user, block, randomLineCount()),
      });
      expect(await response.json()).toMatchObject({ rejected: [] });
      for (const step of block) user.acknowledged.add(step);
      if (users.at(-1) !== user) users.push(user);
      blocks++;
      for (const what of Object.keys(READ_PARSERS)) {
        const { steps, isListing } = await read(user, what, user.acknowledged);
        const all = [...user.acknowledged].toSorted((a, b) => a - b);
        expect(steps).toEqual(isListing ? all : all.slice(-1));
      }
      if (Date.now() >= end && blocks > blocksMin) break;
    }
  }
  return blocks;
}

/** Polls the newest users. A step that it saw once must stay. */
async function pollUsers(
  readsMin: number,
  users: readonly ObservedUser[],
  read: Reader,
  hasEnded: () => boolean,
): Promise<number> {
  const seen = new Map<string, Set<number>>();
  let reads = 0;
  for (; !hasEnded() || reads <= readsMin; reads++) {
    const recent = users.slice(-3);
    const user = recent[Math.floor(Math.random() * recent.length)];
    const what = Object.keys(READ_PARSERS)[reads % Object.keys(READ_PARSERS).length] ?? "";
    if (user === undefined) {
      await Bun.sleep(1);
      continue;
    }
    // Followers and details show the same observations, tweets show others.
    const name = `${user.name} ${what.startsWith("tweets") ? "tweet" : "user"}`;
    const seenSteps = seen.get(name) ?? new Set<number>();
    const { steps } = await read(user, what, seenSteps.union(user.acknowledged));
    seen.set(name, seenSteps.union(new Set(steps)));
  }
  return reads;
}

/** Imports and reads for some seconds; fails if a response lacks what was shown or acknowledged. */
export async function expectMonotonicReads(run: Run): Promise<void> {
  const faults: string[] = [];
  const users: ObservedUser[] = [];
  const read = createReader(run.urls, run.key, faults);
  const end = Date.now() + run.seconds * 1000;
  let ended = false;
  const importAndComplete = async (): Promise<number> => {
    try {
      const blocks = await importUsers(run, users, read, end);
      const isComplete = async () => {
        if ((await run.isComplete?.()) ?? true) return true;
        // A service answers from its memory what has not changed since it was read.
        await importUsers({ ...run, blocksMin: 0 }, users, read, end);
        await Bun.sleep(PAUSE_MS);
        return false;
      };
      await waitUntil(isComplete, COMPLETE_WITHIN_MS);
      return blocks;
    } finally {
      ended = true;
    }
  };
  const [blocks, ...reads] = await Promise.all([
    importAndComplete(),
    ...Array.from({ length: READERS }, () => pollUsers(run.readsMin, users, read, () => ended)),
  ]);
  expect(faults.slice(0, FAULTS_MAX)).toEqual([]);
  expect(blocks).toBeGreaterThan(run.blocksMin);
  expect(Math.min(...reads)).toBeGreaterThan(run.readsMin);
}
