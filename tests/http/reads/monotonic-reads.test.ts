/**
 * Readers poll while observations keep coming in: nothing that was seen disappears, nothing turns
 * older, and what was acknowledged is there. READER_SECONDS=60 is the long form.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { openSandbox, type Sandbox } from "../../support/processes/command-line.ts";

const SECONDS = Number(process.env["READER_SECONDS"] ?? 5);
/** Blocks, and reads of each reader, that there are more of; a slow machine takes longer for them. */
const BLOCKS_MIN = SECONDS;
const READS_MIN = 5 * SECONDS;
const READERS = 4;
const ADMIN_TOKEN = "token-of-this-test-alone";
/** Observations of a subject: all of them fit one page, so one answer tells the whole set. */
const STEPS = 100;
const STEP_MS = 60_000;
/** Faults that are told at most. */
const FAULTS_MAX = 20;

/** A user who has n followers, and one tweet with n likes, when step n is observed. */
interface ObservedUser {
  readonly name: string;
  /** The instant of step 0. */
  readonly start: number;
  /** The steps whose import was acknowledged. */
  readonly acknowledged: Set<number>;
}

/** The steps that an answer shows: all that are in a listing, or the newest alone. */
interface ObservedSteps {
  readonly steps: readonly number[];
  readonly isListing: boolean;
}

const toIso = (ms: number) => new Date(ms).toISOString();

/** Lines of steps of a subject, and of others that are there to keep the import busy. */
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

/** How many other lines a block has: short imports and long ones each have their own races. */
const randomLineCount = () => (Math.random() < 0.5 ? 0 : Math.floor(Math.random() * 1000));

/** The blocks of a subject's import: steps in order, but some come late. */
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

/** Reads that tell which steps are there; each throws where an answer contradicts itself. */
const READ_PARSERS: Record<string, (subject: ObservedUser, answer: never) => ObservedSteps> = {
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

/** What is wrong with a view after all that must be in it by now. */
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

/** Reads a subject; `due` is what must be there by now. */
type Reader = (
  subject: ObservedUser,
  what: string,
  due: ReadonlySet<number>,
) => Promise<ObservedSteps>;

function createReader(url: string, key: string, faults: string[]): Reader {
  return async (subject, what, due) => {
    const response = await fetch(`${url}/api/microblog/${subject.name}/${what}`, {
      headers: { "x-api-key": key },
    });
    expect(response.status).toBe(200);
    const view = READ_PARSERS[what]?.(subject, (await response.json()) as never);
    if (view === undefined) throw new Error(`There is no read ${what}`);
    const fault = findFault(view, due);
    if (fault !== undefined) faults.push(`${subject.name} ${what}: ${fault}`);
    return view;
  };
}

/** Imports subject after subject, and reads right after each acknowledgement. */
async function importUsers(url: string, subjects: ObservedUser[], read: Reader, end: number) {
  let blocks = 0;
  while (Date.now() < end || blocks <= BLOCKS_MIN) {
    const start = Date.now() - 2 * DAY_MS;
    const subject = { name: `user${subjects.length}`, start, acknowledged: new Set<number>() };
    for (const block of generateBlocks()) {
      const response = await fetch(`${url}/admin/observations`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        body: createLines(subject, block, randomLineCount()),
      });
      expect(await response.json()).toMatchObject({ rejected: [] });
      for (const step of block) subject.acknowledged.add(step);
      if (subjects.at(-1) !== subject) subjects.push(subject);
      blocks++;
      for (const what of Object.keys(READ_PARSERS)) {
        const { steps, isListing } = await read(subject, what, subject.acknowledged);
        const all = [...subject.acknowledged].toSorted((a, b) => a - b);
        expect(steps).toEqual(isListing ? all : all.slice(-1));
      }
      if (Date.now() >= end && blocks > BLOCKS_MIN) break;
    }
  }
  return blocks;
}

/** Polls the newest subjects; what it saw once it must see for ever. */
async function pollUsers(
  subjects: readonly ObservedUser[],
  read: Reader,
  end: number,
): Promise<number> {
  const seen = new Map<string, Set<number>>();
  let reads = 0;
  for (; Date.now() < end || reads <= READS_MIN; reads++) {
    const recent = subjects.slice(-3);
    const subject = recent[Math.floor(Math.random() * recent.length)];
    const what = Object.keys(READ_PARSERS)[reads % Object.keys(READ_PARSERS).length] ?? "";
    if (subject === undefined) {
      await Bun.sleep(1);
      continue;
    }
    // Followers and details tell of the same observations, tweets of others.
    const name = `${subject.name} ${what.startsWith("tweets") ? "tweet" : "user"}`;
    const seenSteps = seen.get(name) ?? new Set<number>();
    const { steps } = await read(subject, what, seenSteps.union(subject.acknowledged));
    seen.set(name, seenSteps.union(new Set(steps)));
  }
  return reads;
}

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox({ ADMIN_TOKEN });
});
afterEach(() => sandbox.close());

test(`a reader never sees an observation disappear, or an older state after a newer one (${SECONDS} s of imports)`, async () => {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100000000");
  const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  const service = await sandbox.serve();
  try {
    const faults: string[] = [];
    const subjects: ObservedUser[] = [];
    const read = createReader(service.url, key, faults);
    const end = Date.now() + SECONDS * 1000;
    const [blocks, ...reads] = await Promise.all([
      importUsers(service.url, subjects, read, end),
      ...Array.from({ length: READERS }, () => pollUsers(subjects, read, end)),
    ]);
    expect(faults.slice(0, FAULTS_MAX)).toEqual([]);
    expect(blocks).toBeGreaterThan(BLOCKS_MIN);
    expect(Math.min(...reads)).toBeGreaterThan(READS_MIN);
  } finally {
    await service.stop();
  }
}, 180_000);
