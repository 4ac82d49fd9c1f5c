import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox({ COLLECT: "off" });
});
afterEach(() => sandbox.close());

const listCreators = async () =>
  JSON.parse(await sandbox.runOrThrow("creators", "list", "--json")).map(
    ({ creator }: { creator: string }) => creator,
  );

describe("creators", () => {
  test("add, list and remove take names, and say which are not collected", async () => {
    sandbox = await openSandbox({ COLLECT: "on" });
    expect(await sandbox.run(["creators", "add", "nasa.bsky.social"])).toEqual({
      status: 0,
      out: "",
      err: "Creator nasa.bsky.social is in the monitoring list now\n",
    });
    const { status, err } = await sandbox.runInside([
      "creators",
      "add",
      "nasa.bsky.social",
      "nasa",
    ]);
    expect(status).toBe(0);
    expect(err.split("\n")).toEqual(
      [
        "Creator nasa.bsky.social was in it already",
        "Creator nasa is in the monitoring list now, but is not collected: " +
          "Bluesky has no profile nasa: handles there are domain names",
        "",
      ].map((line) => line.replace("was in it", "was in the monitoring list")),
    );
    expect(JSON.parse(await sandbox.runOrThrow("creators", "list", "--json"))).toMatchObject([
      { creator: "nasa", failure: expect.stringContaining("domain names"), last_failure: null },
      { creator: "nasa.bsky.social", failure: null },
    ]);
    expect((await sandbox.runInside(["creators", "remove", "NASA"])).err).toBe(
      "Creator nasa is not in the monitoring list any more\n",
    );
    expect(await sandbox.runInside(["creators", "remove", "nasa"])).toEqual({
      status: 1,
      out: "",
      err: "Creator nasa on microblog is not in the monitoring list\n",
    });
    expect(await sandbox.runOrThrow("creators", "list")).toContain("nasa.bsky.social");
  }, 30_000);

  test("add takes what people paste", async () => {
    await sandbox.runOrThrow(
      "creators",
      "add",
      "@bsky.app",
      "https://bsky.app/profile/nature.com/post/3l6oveex3ii2l",
      "https://x.com/nasa",
    );
    expect(await listCreators()).toEqual(["bsky.app", "nasa", "nature.com"]);
  });

  test("add and list say at once that nothing is collected", async () => {
    const reason = 'COLLECT is off; only the command "collect" collects';
    expect((await sandbox.runInside(["creators", "add", "bsky.app"])).err).toBe(
      `Creator bsky.app is in the monitoring list now, but is not collected: ${reason}\n`,
    );
    expect(JSON.parse(await sandbox.runOrThrow("creators", "list", "--json"))).toMatchObject([
      { creator: "bsky.app", failure: reason, last_failure: null },
    ]);
  });

  test("add reads a file and standard input, and goes on after a name that fails", async () => {
    const file = await sandbox.write(
      "names.txt",
      "\uFEFFalpha.example\r\n\r\n\t\nwrong!\r\n beta.example \nalpha.example",
    );
    const { status, out, err } = await sandbox.run(
      ["creators", "add", "gamma.example", "-", "--file", file, "--json"],
      "delta.example\nalpha.example\n",
    );
    expect(status).toBe(1);
    expect(JSON.parse(err)).toEqual({ code: "Command Failed", message: "1 of 5 names failed" });
    const added = { change: "added", failure: expect.stringContaining("COLLECT is off") };
    expect(JSON.parse(out)).toEqual([
      { name: "gamma.example", creator: "gamma.example", ...added },
      { name: "alpha.example", creator: "alpha.example", ...added },
      { name: "wrong!", error: expect.stringContaining("creator must be a username") },
      { name: "beta.example", creator: "beta.example", ...added },
      { name: "delta.example", creator: "delta.example", ...added },
    ]);
    expect(await listCreators()).toEqual([
      "alpha.example",
      "beta.example",
      "delta.example",
      "gamma.example",
    ]);
  }, 30_000);

  test("add takes 300 names through a running service, twice", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `c${index}.example`);
    const file = await sandbox.write("many.txt", names.join("\n"));
    const service = await sandbox.serve();
    for (const change of ["added", "present"]) {
      const results = JSON.parse(
        await sandbox.runOrThrow("creators", "add", "--file", file, "--json"),
      );
      expect(results).toHaveLength(300);
      expect(results.every((result: { change: string }) => result.change === change)).toBe(true);
    }
    await service.stop();
    expect(await listCreators()).toEqual(names.toSorted());
  }, 60_000);

  test("channels track takes several channels, and goes on after one that fails", async () => {
    const file = await sandbox.write("channels.txt", "@soup\n@no\n@bread");
    const { status, err } = await sandbox.runInside(["channels", "track", "--file", file]);
    expect(status).toBe(1);
    expect(err.split("\n")).toEqual([
      expect.stringMatching(/^Channel @soup is tracked from now on/),
      expect.stringContaining("channel must be a handle"),
      expect.stringMatching(/^Channel @bread is tracked from now on/),
      "1 of 3 names failed",
      "",
    ]);
  }, 30_000);

  test.each([
    [["creators", "add"], 2, "Give one name or more"],
    [["channels", "track"], 2, "Give one name or more"],
    [["creators", "add", "--file", "missing.txt"], 1, "Cannot read missing.txt"],
    [["creators", "add", "wrong!"], 2, "creator must be a username"],
    [["creators"], 2, "Usage"],
  ])("%j exits with %d and says %p", async (verb, expectedStatus, sentence) => {
    const { status, err } = await sandbox.runInside(verb);
    expect([status, err]).toEqual([expectedStatus, expect.stringContaining(sentence)]);
  });
});
