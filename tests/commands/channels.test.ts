import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox({ COLLECT: "on", YOUTUBE_API_KEY: "a-key-of-youtube" });
});
afterEach(() => sandbox.close());

const ID = `UC${"x".repeat(22)}`;

describe("channels", () => {
  test("track and untrack take a handle or identifier, and list shows the tracked channels", async () => {
    expect(await sandbox.run(["channels", "track", "@Soup"])).toEqual({
      status: 0,
      out: "",
      err: "Channel @Soup is tracked from now on\n",
    });
    expect(await sandbox.runInside(["channels", "track", "@soup"])).toEqual({
      status: 1,
      out: "",
      err: "Channel @Soup is tracked already\n",
    });
    await sandbox.runOrThrow("channels", "track", ID);
    const empty = { last_success: null, last_failure: null, failure: null, next_due: null };
    const added_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
    expect(JSON.parse(await sandbox.runOrThrow("channels", "list", "--json"))).toEqual([
      { channel: "@Soup", channel_id: null, added_at, ...empty },
      { channel: ID, channel_id: ID, added_at, ...empty },
    ]);
    const [head = "", ...lines] = (await sandbox.runOrThrow("channels", "list")).split("\n");
    expect(head.split(/ {2,}/)).toEqual([
      "channel",
      "channel id",
      "added at",
      "last success",
      "last failure",
      "failure",
      "next due",
    ]);
    expect(lines.map((line) => line.split(/ +/)[0])).toEqual(["@Soup", ID, ""]);
    expect((await sandbox.runInside(["channels", "untrack", "@sOUP"])).err).toBe(
      "Channel @Soup is not tracked any more; its history is kept\n",
    );
    expect(await sandbox.runInside(["channels", "untrack", "@Soup"])).toEqual({
      status: 1,
      out: "",
      err: "Channel @Soup is not tracked\n",
    });
    expect(JSON.parse(await sandbox.runOrThrow("channels", "list", "--json"))).toMatchObject([
      { channel: ID },
    ]);
  }, 30_000);

  test("track takes what people paste", async () => {
    const url = `https://www.youtube.com/channel/${ID}`;
    await sandbox.runOrThrow(
      "channels",
      "track",
      "soup",
      url,
      "https://www.youtube.com/@nasa/shorts",
    );
    const channels: { channel: string }[] = JSON.parse(
      await sandbox.runOrThrow("channels", "list", "--json"),
    );
    expect(channels.map(({ channel }) => channel).toSorted()).toEqual(["@nasa", "@soup", ID]);
  });

  test.each([
    [{ COLLECT: "on" }, "YOUTUBE_API_KEY is not set"],
    [
      { COLLECT: "off", YOUTUBE_API_KEY: "a-key-of-youtube" },
      'COLLECT is off; only the command "collect" collects',
    ],
  ])("track and list say with %j that nothing is collected", async (settings, reason) => {
    const idle = await openSandbox(settings);
    expect((await idle.runInside(["channels", "track", "@soup"])).err).toBe(
      `Channel @soup is tracked from now on, but is not collected: ${reason}\n`,
    );
    expect(JSON.parse(await idle.runOrThrow("channels", "list", "--json"))).toMatchObject([
      { channel: "@soup", failure: reason, last_failure: null },
    ]);
    await idle.close();
  });

  test("work through a running service, with the same list", async () => {
    sandbox = await openSandbox({ COLLECT: "off" });
    const service = await sandbox.serve();
    await sandbox.runOrThrow("channels", "track", "@soup");
    expect(JSON.parse(await sandbox.runOrThrow("channels", "list", "--json"))).toMatchObject([
      { channel: "@soup" },
    ]);
    await service.stop();
    expect(await sandbox.runOrThrow("channels", "list")).toContain("@soup");
  }, 30_000);

  test.each([["so"], ["@so"], [ID.slice(0, -1)]])(
    "refuse %s with a message that says what is allowed",
    async (channel) => {
      for (const verb of ["track", "untrack"]) {
        expect(await sandbox.runInside(["channels", verb, channel])).toEqual({
          status: 2,
          out: "",
          err:
            "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·), an identifier " +
            "(UC and 22 letters, digits, _ or -) or an address such as " +
            `https://www.youtube.com/@nasa, got "${channel}"\n`,
        });
      }
    },
  );

  test.each([
    [["channels"]],
    [["channels", "untrack"]],
    [["channels", "untrack", "@soup", "@two"]],
  ])("exit with 2 for wrong usage: %j", async (verb) => {
    expect((await sandbox.runInside(verb)).status).toBe(2);
  });
});
