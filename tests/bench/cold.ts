/**
 * Reads of histories: pages that no cache of finished answers can have, beside bun:sqlite on a copy
 * of the same file, in which it has plain rows of its own beside the packed histories; and one page
 * again and again, beside a fixed body of its size.
 */
import { addPlainRows, fill, freshPaths, observationsOf } from "./fill.ts";
import type { Target } from "./load.ts";
import { atLeast, memoryRows, withSides, type Surroundings } from "./parts.ts";
import { ratioRow, type Row } from "./report.ts";
import { alternate, ratesOf, warmUp, type Plan } from "./rounds.ts";
import { answerOf, copyStore, expectSame, makeStore, startService, startSide } from "./service.ts";
import type { Side } from "./workspace.ts";

const PART = "cold";
const PLAN: Plan = { connections: 64, rounds: 5, seconds: 2 };

/** For what answers so often that a second tells enough. */
const SHORT_PLAN: Plan = { ...PLAN, seconds: 1 };

/** Their pages of tweets are 75 MB together. */
const USERS = 640;

const PAGES = {
  tweets: { name: "page of 50 tweets x 24 observations", plan: PLAN },
  followers: { name: "page of 50 of 336 follower counts", plan: SHORT_PLAN },
} as const;

type Page = keyof typeof PAGES;

/** The sides that read a database. */
type Readers = Readonly<Record<"service" | "json" | "rows", Side>>;

/** Measures both kinds of pages. */
export async function cold(surroundings: Surroundings): Promise<Row[]> {
  const { workspace, say } = surroundings;
  say(`cold: filling a database with ${observationsOf(USERS)} observations`);
  const store = await makeStore(workspace, "cold");
  await fill(workspace, store, USERS);
  const copy = await copyStore(store, "cold-copy");
  await addPlainRows(workspace, copy);
  const readers: Readers = {
    service: await startService(workspace, store),
    json: await startSide(workspace, "reader", ["json", copy.file]),
    rows: await startSide(workspace, "reader", ["rows", copy.file]),
  };
  return withSides(readers, async () => {
    await expectSamePages(readers, store.key);
    return [
      await measurePage(surroundings, readers, store.key, "tweets"),
      await measurePage(surroundings, readers, store.key, "followers"),
      await measureCached(surroundings, readers.service, store.key),
      ...memoryRows(PART, "the service", readers.service),
      ...memoryRows(PART, "bun:sqlite, JSON of SQLite", readers.json),
      ...memoryRows(PART, "bun:sqlite, rows", readers.rows),
    ];
  });
}

/** Holds all sides to the same bodies, for the first user, one between, and the last. */
async function expectSamePages({ service, json, rows }: Readers, key: string): Promise<void> {
  for (const page of ["tweets", "followers"] as const) {
    for (const user of [0, Math.floor(USERS / 2), USERS - 1]) {
      const { before, after } = freshPaths(USERS)[page];
      const path = `${before}${user}${after}0`;
      const body = await answerOf(service, path, key);
      expectSame("bun:sqlite with SQLite's JSON", body, await answerOf(json, path, key));
      expectSame("bun:sqlite with rows", body, await answerOf(rows, path, key));
    }
  }
}

/** Compares the service with the faster way of bun:sqlite, as the warm-up tells. */
async function measurePage(
  { load, say }: Surroundings,
  readers: Readers,
  key: string,
  page: Page,
): Promise<Row> {
  const { name: pageName, plan } = PAGES[page];
  say(`cold: ${pageName}`);
  const target = (name: string, { origin }: Side): Target => ({
    name: `cold ${page}, ${name}`,
    origin,
    key,
    paths: [freshPaths(USERS)[page]],
  });
  const service = target("service", readers.service);
  const ways = { json: target("json", readers.json), rows: target("rows", readers.rows) };
  const warm = await warmUp(load, { service, ...ways }, plan.connections);
  const faster = warm.json.rate > warm.rows.rate ? "json" : "rows";
  const found = await alternate(load, { service, sqlite: ways[faster] }, plan);
  const way = faster === "json" ? "JSON of SQLite" : "rows";
  return ratioRow({
    part: PART,
    what: `${pageName} / bun:sqlite, ${way}`,
    unit: "answers/s",
    ours: ratesOf(found.service),
    theirs: ratesOf(found.sqlite),
    target: atLeast(0.8),
  });
}

async function measureCached(
  { workspace, load, say }: Surroundings,
  service: Side,
  key: string,
): Promise<Row> {
  say("cold: the same page of tweets again and again");
  const path = "/api/microblog/creator0/tweets?days=14&limit=50";
  const body = await answerOf(service, path, key);
  const bare = await startSide(workspace, "bare", ["/api/microblog/:username/tweets"], body);
  return withSides({ bare }, async () => {
    expectSame("bare Elysia", body, await answerOf(bare, path, key));
    const targets = {
      service: { name: "cached tweets, service", origin: service.origin, key, paths: path },
      bare: { name: "cached tweets, bare Elysia", origin: bare.origin, key, paths: path },
    };
    await warmUp(load, targets, SHORT_PLAN.connections);
    const found = await alternate(load, targets, SHORT_PLAN);
    return ratioRow({
      part: PART,
      what: `cached page of tweets, ${Math.round(body.length / 1000)} kB / bare Elysia`,
      unit: "answers/s",
      ours: ratesOf(found.service),
      theirs: ratesOf(found.bare),
      target: atLeast(0.7),
    });
  });
}
