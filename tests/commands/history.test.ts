import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, formatDay, formatInstant } from "../../core/time.ts";
import { openNumbersSandbox } from "../support/numbers-sandbox.ts";

let sandbox: Awaited<ReturnType<typeof openNumbersSandbox>>;
beforeAll(async () => {
  sandbox = await openNumbersSandbox();
});
afterAll(() => sandbox.close());

const day = (before: number) => formatDay(sandbox.today / DAY_MS - before);

describe("history", () => {
  test("prints the counts with their changes, and a line of blocks with blanks", async () => {
    const out = await sandbox.runOrThrow("history", "soup", "--from", "-6d");
    expect(out.split("\n")).toEqual([
      "subscribers: 9,940 ▁ ▄▆▇█ 9,990".replace("▁ ▄▆▇█", out.slice(19, 25)),
      "",
      "day         subscribers         viewCount",
      `${day(6)}    9,940 +10  1,994,000 +1,000`,
      `${day(4)}    9,960 +20  1,996,000 +2,000`,
      `${day(3)}    9,970 +10  1,997,000 +1,000`,
      `${day(2)}    9,980 +10  1,998,000 +1,000`,
      `${day(1)}    9,990 +10  1,999,000 +1,000`,
      "",
    ]);
    expect(out.slice(19, 25)).toMatch(/^▁ [▂-▇]{3}█$/);
  });

  test("ends before --to, and takes instants and times ago", async () => {
    const rows = async (...argv: readonly string[]) =>
      JSON.parse(await sandbox.runOrThrow("history", "soup", "--json", ...argv)).history;
    expect(await rows("--from", day(3), "--to", day(1))).toHaveLength(2);
    expect(await rows("--from", "-2w", "--to", "-1w")).toHaveLength(8);
    expect(await rows()).toHaveLength(29);
    expect(await rows("--from=-4w", "--interval", "month")).not.toBeEmpty();
  });

  test("prints the history of an item", async () => {
    const out = await sandbox.runOrThrow("history", "soup", "--item", "s1", "--interval", "raw");
    expect(out.split("\n")).toEqual([
      "views: 1,000 ▁                                                          █ 1,500",
      "",
      "raw                       views  likes",
      `${day(2)} 12:00:00  1,000        5`,
      `${day(1)} 12:00:00  1,500 +500   6 +1`,
      "",
    ]);
  });

  test("shows the days of a time zone", async () => {
    const argv = ["history", "soup", "--from", "-3d", "--zone", "Pacific/Kiritimati"];
    const lines = (await sandbox.runOrThrow(...argv)).trimEnd().split("\n");
    // Noon in UTC is the next day there.
    expect(lines.at(-1)).toStartWith(day(0));
    const { status, err } = await sandbox.runInside(["history", "soup", "--zone", "Mars"]);
    expect(status).toBe(2);
    expect(err).toStartWith("zone must be ");
  });

  test("prints the JSON and the CSV of the API, through the service and without a charge", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    const service = await sandbox.serve();
    try {
      const argv = ["history", "soup", "--from", day(9), "--interval", "raw"];
      const [json, csv] = [
        await sandbox.run([...argv, "--json"]),
        await sandbox.run([...argv, "--csv"]),
      ];
      expect([json.status, csv.status, json.err, csv.err]).toEqual([0, 0, "", ""]);
      const read = (format: string) =>
        fetch(
          `${service.url}/api/video/soup/history?interval=raw&from=${day(9)}&format=${format}`,
          { headers: { "x-api-key": key } },
        ).then((response) => response.text());
      expect(JSON.parse(json.out)).toEqual(JSON.parse(await read("json")));
      expect(csv.out).toBe(await read("csv"));
      for (const command of [["show", "soup"], ["top"], ["history", "soup"]]) {
        expect((await sandbox.run(command)).out).toContain("9,990");
      }
      const accounts = JSON.parse((await sandbox.run(["accounts", "list", "--json"])).out);
      expect(accounts).toMatchObject([{ name: "acme", balance: 8 }]);
      expect((await sandbox.run(["show", "nobody"])).status).toBe(1);
    } finally {
      await service.stop();
    }
  }, 60_000);

  test("joins the pages of a long history", async () => {
    const lines = Array.from({ length: 1001 }, (_, index) =>
      JSON.stringify({
        kind: "user",
        observedAt: formatInstant(sandbox.today - (index + 1) * 60_000),
        username: "long",
        followers_count: index,
      }),
    );
    await sandbox.runOrThrow("import", await sandbox.write("long.ndjson", lines.join("\n")));
    const argv = ["history", "long", "--interval", "raw", "--from", "-3d"];
    const { history, pagination } = JSON.parse(await sandbox.runOrThrow(...argv, "--json"));
    expect([history.length, pagination.hasMore]).toEqual([1001, false]);
    const csv = (await sandbox.runOrThrow(...argv, "--csv")).trimEnd().split("\r\n");
    expect(csv.length).toBe(1002);
    expect(csv.filter((line) => line.startsWith("timestamp"))).toHaveLength(1);
  }, 60_000);

  test.each([
    [["nobody"], 1, 'There is no channel or user "nobody"; '],
    [["soup", "--item", "x"], 1, 'soup has no short "x"; "bun server/main.ts show soup" lists'],
    [["soup", "--item", ".."], 1, 'soup has no short ".."; '],
    [["soup", "--item", "s1/../s1"], 1, 'soup has no short "s1/../s1"; '],
    [["poet"], 2, 'There is a channel and a user "poet"; add --kind channel or --kind user'],
    [["soup", "--from", "-7x"], 2, "from must be an ISO 8601 date"],
    [["soup", "--from", "-1d", "--to", "-2d"], 2, "from must be before to, got from "],
    [["soup", "--interval", "year"], 2, "--interval <interval> cannot be 'year'"],
  ])("%j fails", async (argv, exitStatus, message) => {
    const { status, out, err } = await sandbox.runInside(["history", ...argv]);
    expect([status, out]).toEqual([exitStatus, ""]);
    expect(err).toStartWith(message);
  });

  test("says that nothing was observed in a time", async () => {
    const { status, out, err } = await sandbox.runInside(["history", "soup", "--from", "-0d"]);
    expect([status, out, err]).toEqual([0, "", "Nothing was observed in this time\n"]);
  });
});
