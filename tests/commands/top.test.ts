import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SORTS } from "../../core/list-sorts.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { readCsvRows } from "../support/csv-rows.ts";
import { runInProcess } from "../support/command-line-io.ts";
import { openNumbersSandbox } from "../support/numbers-sandbox.ts";
import { waitUntil } from "../support/wait.ts";

let sandbox: Awaited<ReturnType<typeof openNumbersSandbox>>;
let key = "";
let service: Awaited<ReturnType<typeof sandbox.serve>>;
beforeAll(async () => {
  sandbox = await openNumbersSandbox();
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  // A running service computes the figures in the background, those of tweets last.
  service = await sandbox.serve();
  await waitUntil(async () => (await readRows("--by", "weeklySubscriberGainPercent")).length > 0);
  for (const list of ["shorts", "users", "tweets"]) {
    await waitUntil(async () => (await readRows(list)).length > 0);
  }
}, 60_000);
afterAll(async () => {
  await service.stop();
  await sandbox.close();
});

const run = async (...argv: readonly string[]) =>
  (await sandbox.runOrThrow("top", ...argv)).split("\n");

async function readRows(...argv: readonly string[]): Promise<Readonly<Record<string, unknown>>[]> {
  const { out } = await sandbox.runInside(["top", ...argv, "--json"]);
  return JSON.parse(out);
}

const readNames = async (...argv: readonly string[]) =>
  (await readRows(...argv)).map(({ username }) => username);

describe("top", () => {
  test("lists channels by the subscribers that they gained in a week", async () => {
    const [head, soup, poet, end] = await run();
    expect(head?.split(/ {2,}/)).toEqual([
      "name",
      "display name",
      "subscribers",
      "1 d",
      "1 d %",
      "7 d",
      "7 d %",
      "30 d",
      "30 d %",
      "trend",
    ]);
    expect(soup).toMatch(
      /^soup  Soup \\u202e\\u001b\[31m +9,990  \+10  \+0\.10%  \+70  \+0\.71%  \+300  \+3\.10%  ▁[▁-█]{23} [▁-█]{4}$/,
    );
    expect(poet?.split(/ {2,}/)).toEqual(["poet", "7", "▄"]);
    expect(end).toBe("");
  });

  test("lists users, by another figure, in both orders, filtered", async () => {
    expect((await run("users"))[1]).toMatch(/^Poet +501 +-1  -0\.20% +-7  -1\.38%/);
    expect(await readNames("--by", "subscribers", "--order", "asc")).toEqual(["poet", "soup"]);
    expect(await readNames("--by", "subscribers", "--limit", "1")).toEqual(["soup"]);
    expect(await readNames("--search", "SOU")).toEqual(["soup"]);
    expect(await readNames("--country", "ie")).toEqual(["soup"]);
    expect(await readNames("--min", "8")).toEqual(["soup"]);
    expect(await readNames("users", "--search", "nobody")).toEqual([]);
    const { status, out, err } = await sandbox.runInside(["top", "--search", "nobody", "--csv"]);
    expect([status, out, err]).toEqual([0, "", "There are no such channels\n"]);
  });

  test("shows the figure by which it sorts, if no other column has it", async () => {
    const [head = "", soup = ""] = await run("--by", "views");
    expect(head).toMatch(/subscribers  viewCount/);
    expect(soup).toMatch(/9,990  1,999,000/);
    expect((await run("--by", "weeklyViewGain"))[1]).toMatch(/ \+7,000 /);
  });

  test("lists shorts and tweets of all creators, or of some", async () => {
    const [head, short] = await run("shorts");
    expect(head).toMatch(/^by +title +age  views  a day  × median  engaged  trend +id$/);
    expect(short).toMatch(
      /^Soup \\u202e\\u001b\[31m  Leek \\u001b\[2Jsoup  \d d  1,500    500 .* s1$/,
    );
    expect(await readRows("shorts", "--of", "soup", "--from", "-5d")).toMatchObject([{ id: "s1" }]);
    expect(await readRows("shorts", "--of", "CH2")).toEqual([]);
    expect(await readRows("shorts", "--to", "-5d")).toEqual([]);
    expect(await readRows("tweets", "--by", "created_at")).toMatchObject([{ id: "1" }]);
    for (const names of ["poet", "@poet", "@nobody,@Poet", "nobody, @poet"]) {
      expect(await readRows("tweets", "--of", names)).toMatchObject([{ id: "1" }]);
    }
  });

  test("prints the rows and the CSV of the API", async () => {
    const rows = await readRows("--limit", "1");
    expect(rows).toMatchObject([{ id: "CH1", subscribers: 9990, weeklySubscriberGain: 70 }]);
    const { id: _, ...fields } = rows[0] ?? {};
    const query = `sort=weeklySubscriberGain&limit=1&fields=${Object.keys(fields).join()}`;
    const read = async (format: string) => {
      const url = `${service.url}/api/video/channels?${query}&format=${format}`;
      return (await fetch(url, { headers: { "x-api-key": key } })).text();
    };
    expect(rows).toEqual(JSON.parse(await read("json")).channels);
    const csv = await sandbox.runOrThrow("top", "--limit", "1", "--csv");
    expect(csv).toBe(await read("csv"));
    expect(readCsvRows(csv)).toHaveLength(2);
  });

  test.each([
    [[], 40],
    [[], 80],
    [[], 100],
    [["shorts"], 60],
    [["shorts"], 80],
    [["shorts"], 140],
  ])("%j fits a terminal of %d columns", async (argv, columns) => {
    const { out } = await runInProcess(
      ["top", ...argv],
      { DATABASE_URL: `file:${sandbox.file}`, COLLECT: "off" },
      { columns },
    );
    const widths = out.split("\n").map((line) => Bun.stringWidth(line));
    expect(widths.filter((width) => width > columns)).toEqual([]);
    expect(out).toMatch(/9,990|1,500/);
  });

  test("takes the figures of each list, and says which ones it has", async () => {
    for (const sort of SORTS.channel) expect(await run("--by", sort)).toSatisfy(isTable);
    for (const sort of SORTS.user) expect(await run("users", "--by", sort)).toSatisfy(isTable);
    for (const sort of SORTS.short) expect(await run("shorts", "--by", sort)).toSatisfy(isTable);
    for (const sort of SORTS.tweet) expect(await run("tweets", "--by", sort)).toSatisfy(isTable);
    const { status, err } = await sandbox.runInside(["top", "users", "--by", "views"]);
    expect([status, err]).toEqual([
      2,
      `users can be listed by ${SORTS.user.join(", ")}, not by views\n`,
    ]);
  });

  test.each([
    [["users", "--country", "IE"], "users have no --country, only --search, --min\n"],
    [["shorts", "--min", "1"], "shorts have no --min, only --of, --from, --to\n"],
    [["--min", "many"], "minSubscribers must be a whole number from 0 to 9007199254740991, got"],
    [["shorts", "--from", "-7y"], "from must be an ISO 8601 date"],
    [["videos"], "<list> cannot be 'videos'"],
    [["--by", "luck"], "--by <figure> cannot be 'luck'"],
    [["--limit", "0"], "--limit <number> cannot be '0'"],
  ])("refuses %j", async (argv, message) => {
    const { status, out, err } = await sandbox.runInside(["top", ...argv]);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toStartWith(message);
  });
});

describe("top without a service", () => {
  let other: Awaited<ReturnType<typeof openNumbersSandbox>>;
  beforeEach(async () => void (other = await openNumbersSandbox()));
  afterEach(() => other.close());

  test("computes the figures that an import changed before it lists by them", async () => {
    const read = async (...argv: readonly string[]) =>
      JSON.parse(await other.runOrThrow("top", ...argv, "--json"));
    expect(await read("shorts")).toMatchObject([{ id: "s1", views: 1500, viewsPerDay: 500 }]);
    expect(await read("tweets", "--by", "created_at")).toMatchObject([{ id: "1" }]);
    const percents = await read("--by", "weeklySubscriberGainPercent");
    expect(percents.map(({ username }: { username: string }) => username)).toEqual([
      "soup",
      "poet",
    ]);
    const rows = ["s2", "s3"].map((id, index) => ({
      kind: "short",
      observedAt: formatInstant(other.today),
      channel: "CH1",
      id,
      publishedAt: formatInstant(other.today - DAY_MS),
      views: 5000 + index,
    }));
    const text = rows.map((row) => JSON.stringify(row)).join("\n");
    await other.runOrThrow("import", await other.write("more.ndjson", text));
    expect((await read("shorts", "--by", "views")).map(({ id }: { id: string }) => id)).toEqual([
      "s3",
      "s2",
      "s1",
    ]);
  });

  test.each([
    ["shorts", "microblog", "views", "1,500"],
    ["tweets", "none", "impressions", ""],
  ])("lists %s by views if DERIVED_METRICS is %s", async (list, given, heading, views) => {
    const settings = { DATABASE_URL: `file:${other.file}`, COLLECT: "off" };
    const { status, out, err } = await runInProcess(["top", list, "--json"], {
      ...settings,
      DERIVED_METRICS: given,
    });
    expect([status, err]).toEqual([0, ""]);
    expect(out).toContain(`"${heading}":`);
    const table = await runInProcess(["top", list], { ...settings, DERIVED_METRICS: given });
    expect(table.out).toContain(views);
  });
});

const isTable = (lines: readonly string[]) => lines.length >= 3;
