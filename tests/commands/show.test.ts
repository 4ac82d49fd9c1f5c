import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ShortsPage } from "../../core/resources/video.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { openNumbersSandbox } from "../support/numbers-sandbox.ts";

let sandbox: Awaited<ReturnType<typeof openNumbersSandbox>>;
beforeAll(async () => {
  sandbox = await openNumbersSandbox();
});
afterAll(() => sandbox.close());

describe("show", () => {
  test("prints counts, gains, the last 30 days and the newest items of a channel", async () => {
    const out = await sandbox.runOrThrow("show", "@Soup");
    const [title, facts, observed, ...rest] = out.split("\n");
    expect(title).toBe("Soup \\u202e\\u001b[31m  @soup");
    expect(facts).toBe("channel CH1, IE");
    const noon = formatInstant(sandbox.today - DAY_MS / 2);
    expect(observed).toMatch(new RegExp(`^last observed \\d+ h ago, ${noon.slice(0, 10)} 12:00Z$`));
    expect(rest.slice(0, 6).map((line) => line.trimEnd())).toEqual([
      "",
      "       subscribers  videoCount         viewCount",
      "now   9,990                     1,999,000",
      "1 d     +10 +0.10%                 +1,000 +0.05%",
      "7 d     +70 +0.71%                 +7,000 +0.35%",
      "30 d   +300 +3.10%                +30,000 +1.52%",
    ]);
    // Today was not observed, nor was the day five days ago.
    expect(rest[7]).toMatch(/^subscribers, 30 days: 9,710 [▁-█]{24} [▁-█]{4}  9,990$/);
    expect(rest[9]).toMatch(/^age  +views  short  +id$/);
    expect(rest[10]).toMatch(/^\d d  1,500  Leek \\u001b\[2Jsoup  s1$/);
  });

  test("shows the channel and the user of one name, or one of them", async () => {
    const both: { kind: string }[] = JSON.parse(await sandbox.runOrThrow("show", "POET", "--json"));
    expect(both.map(({ kind }) => kind)).toEqual(["channel", "user"]);
    const user = await sandbox.runOrThrow("show", "poet", "--kind", "user");
    expect(user).toStartWith("Poet  @Poet\nuser\n");
    expect(user).toEndWith("\nNo tweets in the last 14 days\n");
    const channel = await sandbox.runOrThrow("show", "CH2");
    expect(channel).toContain("channel CH2");
    expect(channel).toEndWith("\nNo shorts\n");
  });

  test("prints the details of the API, gains, daily values and items as JSON", async () => {
    const [shown] = JSON.parse(await sandbox.runOrThrow("show", "soup", "--json"));
    const observedAt = formatInstant(sandbox.today - DAY_MS + 12 * HOUR_MS);
    expect(shown).toMatchObject({
      kind: "channel",
      name: "soup",
      observedAt,
      details: { id: "CH1", subscribers: 9990, statistics: { weeklySubscriberGain: 70 } },
      metrics: { weeklySubscriberGain: 70, monthlyViewGain: 30_000, dailyVideoGain: null },
      shorts: [{ id: "s1", title: "Leek\n\u001b[2Jsoup", views: 1500, likes: 6 }],
    });
    expect(Object.keys(shown.shorts[0])).toEqual(
      Object.keys(ShortsPage.properties.shorts.items.properties),
    );
    expect(shown.trend.length).toBe(30);
    expect(shown.trend.slice(-6)).toEqual([null, 9960, 9970, 9980, 9990, null]);
  });

  test("prints each count with its gains as CSV", async () => {
    const lines = (await sandbox.runOrThrow("show", "soup", "--csv")).split("\r\n");
    const observedAt = formatInstant(sandbox.today - DAY_MS + 12 * HOUR_MS);
    expect(lines).toEqual([
      "kind,name,observedAt,count,value,dailyGain,dailyGainPercent,weeklyGain,weeklyGainPercent," +
        "monthlyGain,monthlyGainPercent",
      `channel,soup,${observedAt},subscribers,9990,10,0.1002,70,0.7056,300,3.096`,
      `channel,soup,${observedAt},videoCount,,,,,,,`,
      `channel,soup,${observedAt},viewCount,1999000,1000,0.0501,7000,0.3514,30000,1.5236`,
      "",
    ]);
  });

  test.each([
    [["sopu"], 'There is no channel or user "sopu"; did you mean soup?'],
    [["@soupp"], 'There is no channel or user "@soupp"; did you mean soup?'],
    [["poeti", "--kind", "user"], 'There is no user "poeti"; did you mean Poet?'],
    [
      ["@"],
      'There is no channel or user "@"; "bun server/main.ts top channels" and "bun server/main.ts top users" list what there is',
    ],
    [
      [".."],
      'There is no channel or user ".."; "bun server/main.ts top channels" and "bun server/main.ts top users" list what there is',
    ],
    [
      ["a/b"],
      'There is no channel or user "a/b"; "bun server/main.ts top channels" and "bun server/main.ts top users" list what there is',
    ],
    [
      [""],
      'There is no channel or user ""; "bun server/main.ts top channels" and "bun server/main.ts top users" list what there is',
    ],
    [
      ["\u202ezz"],
      'There is no channel or user "\\u202ezz"; "bun server/main.ts top channels" and ' +
        '"bun server/main.ts top users" list what there is',
    ],
  ])("fails with names that are like an unknown one: %j", async (argv, message) => {
    const { status, out, err } = await sandbox.runInside(["show", ...argv]);
    expect([status, out, err]).toEqual([1, "", `${message}\n`]);
  });

  test("refuses a name that nothing can have", async () => {
    const { status, err } = await sandbox.runInside(["show", "a\u0007"]);
    expect(status).toBe(2);
    expect(err).toStartWith("channel must be 1 to 256 characters of valid UTF-8");
    expect((await sandbox.runInside(["show", "soup", "--csv", "--json"])).status).toBe(2);
  });
});
