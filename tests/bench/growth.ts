/** How page reads, the size of the database and the memory go as observations grow in number. */
import { stat } from "node:fs/promises";
import { fill, freshPaths, observationsOf, usersFor } from "./fill.ts";
import type { Target } from "./load.ts";
import { atMost, memoryRows, under, withSides, type Surroundings } from "./parts.ts";
import { median, ratioRow, valueRow, type Row } from "./report.ts";
import { alternate, warmUp, type Plan } from "./rounds.ts";
import { makeStore, startService, type Store } from "./service.ts";
import type { Side } from "./workspace.ts";

const PART = "growth";
const PLAN: Plan = { connections: 4, rounds: 5, seconds: 1 };
const MANY_CONNECTIONS = 256;
const MANY_WARM_UP_S = 3;

/** Memory is flat while its last third is at most so many times its first third. */
const FLAT = 1.1;

const SIZES = {
  small: { name: "100 thousand", users: usersFor(100_000) },
  middle: { name: "1 million", users: usersFor(1_000_000) },
  large: { name: "10 million", users: usersFor(10_000_000) },
} as const;

type Size = keyof typeof SIZES;

type OfEach<Value> = Readonly<Record<Size, Value>>;

/** Measures databases of three sizes. */
export async function growth(surroundings: Surroundings): Promise<Row[]> {
  const { workspace } = surroundings;
  const stores = await ofEach((size) => makeFilled(surroundings, size));
  const perObservation = (await sizeOf(stores.large)) / observationsOf(SIZES.large.users);
  const sides = await ofEach((size) => startService(workspace, stores[size]));
  return withSides(sides, async () => {
    const tweets = await measurePage(surroundings, sides, stores, "tweets");
    const followers = await measurePage(surroundings, sides, stores, "followers");
    const pages = (["small", "middle", "large"] as const).flatMap((size) =>
      memoryRows(PART, `page reads, ${SIZES[size].name}`, sides[size]),
    );
    const bytes = valueRow({
      part: PART,
      what: "database per observation, 10 million",
      unit: "bytes",
      value: perObservation,
      target: atMost(32),
    });
    const memory = await watchUnderLoad(surroundings, sides.large, stores.large.key);
    return [...tweets, ...followers, bytes, ...pages, ...memory];
  });
}

/** One after the other, from the smallest on. */
async function ofEach<Value>(make: (size: Size) => Promise<Value>): Promise<OfEach<Value>> {
  return {
    small: await make("small"),
    middle: await make("middle"),
    large: await make("large"),
  };
}

async function makeFilled({ workspace, say }: Surroundings, size: Size): Promise<Store> {
  const { name, users } = SIZES[size];
  say(`growth: filling a database with ${name} observations`);
  const store = await makeStore(workspace, `growth-${size}`);
  await fill(workspace, store, users);
  return store;
}

async function sizeOf({ file }: Store): Promise<number> {
  return (await stat(file)).size;
}

/** The median time to a page that no cache has, at each size. */
async function measurePage(
  { load, say }: Surroundings,
  sides: OfEach<Side>,
  stores: OfEach<Store>,
  page: "tweets" | "followers",
): Promise<Row[]> {
  say(`growth: pages of ${page}`);
  const target = (size: Size): Target => ({
    name: `${page} of ${SIZES[size].name} observations`,
    origin: sides[size].origin,
    key: stores[size].key,
    paths: [freshPaths(SIZES[size].users)[page]],
  });
  const targets = { small: target("small"), middle: target("middle"), large: target("large") };
  await warmUp(load, targets, PLAN.connections);
  const found = await alternate(load, targets, PLAN);
  const times = (size: Size) => found[size].map(({ medianMs }) => medianMs);
  const compare = (size: Size) => ({
    part: PART,
    what: `page of ${page}, ${SIZES[size].name} / 100 thousand`,
    unit: "ms",
    ours: times(size),
    theirs: times("small"),
  });
  return [ratioRow(compare("middle")), ratioRow({ ...compare("large"), target: atMost(1.3) })];
}

/** The memory of the service while many connections read pages and details in turn. */
async function watchUnderLoad(
  { load, say, memorySeconds }: Surroundings,
  side: Side,
  key: string,
): Promise<Row[]> {
  say(`growth: memory with ${MANY_CONNECTIONS} connections, ${memorySeconds} seconds`);
  const { tweets, followers, details } = freshPaths(SIZES.large.users);
  const target: Target = {
    name: "all reads of 10 million observations",
    origin: side.origin,
    key,
    paths: [tweets, followers, details],
  };
  await load(target, MANY_CONNECTIONS, MANY_WARM_UP_S);
  const before = side.memory.samplesMib.length;
  const { rate } = await load(target, MANY_CONNECTIONS, memorySeconds);
  const samples = side.memory.samplesMib.slice(before);
  const what = `${MANY_CONNECTIONS} connections, 10 million`;
  const answers = valueRow({ part: PART, what, unit: "answers/s", value: rate });
  const third = Math.floor(samples.length / 3);
  if (third === 0) return [answers];
  const highest = Math.max(...samples);
  return [
    answers,
    valueRow({
      part: PART,
      what: `memory, ${what}, highest`,
      unit: "MiB",
      value: highest,
      target: under(250),
    }),
    valueRow({
      part: PART,
      what: `memory, ${what}, last third / first third`,
      unit: "times",
      value: median(samples.slice(-third)) / median(samples.slice(0, third)),
      target: atMost(FLAT),
    }),
  ];
}
