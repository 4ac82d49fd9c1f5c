/** Runs the example that follows a channel against a real service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { NOW, startTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(
    { kind: "channel", observedAt: "2026-11-20", id: "UCsoup", username: "soup" },
    ...Array.from({ length: 30 }, (_, id) => short(id)),
  );
});
afterAll(() => service.close());

const short = (id: number) => ({
  kind: "short",
  observedAt: new Date(NOW).toISOString(),
  channel: "UCsoup",
  id: `short-${id}`,
  title: `Soup ${id}`,
  publishedAt: new Date(NOW - (100 - id) * 60_000).toISOString(),
  views: id * 10,
});

/** Starts the example, with a tenth of a second between two polls. */
function startFollowing(key: string, channel: string) {
  const file = join(import.meta.dir, "follow-shorts.ts");
  const child = Bun.spawn([process.execPath, file, service.address, channel, "0.1"], {
    env: { ...process.env, KEY: key },
    stdout: "pipe",
    stderr: "pipe",
  });
  let out = "";
  const read = async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) out += chunk;
  };
  const finished = read();
  return {
    waitFor: (text: string) => waitUntil(() => out.includes(text)),
    async stop() {
      child.kill("SIGINT");
      const status = await child.exited;
      await finished;
      return { status, lines: out.trim().split("\n"), errors: await child.stderr.text() };
    },
  };
}

describe("follow-shorts.ts", () => {
  test("prints each new short once, also a whole page of them, and what it paid", async () => {
    const { account, key } = await service.createAccountWithKey(1000);
    const example = startFollowing(key, "soup");
    await example.waitFor("Following");
    await service.observe(short(30));
    await example.waitFor("Soup 30");
    await service.observe(...Array.from({ length: 45 }, (_, id) => short(31 + id)));
    await example.waitFor("Soup 75");
    await waitUntil(async () => (await service.readSums(account)).debited > 6);
    const { status, lines, errors } = await example.stop();
    expect({ status, errors }).toEqual({ status: 0, errors: "" });
    expect(lines[0]).toBe("Following soup, its newest short is Soup 29");
    expect(lines[1]).toBe("2026-11-20T10:50:00.000Z  Soup 30, 300 views");
    expect(lines.slice(1, -1).map((line) => /Soup (\d+)/.exec(line)?.[1])).toEqual(
      Array.from({ length: 46 }, (_, index) => String(30 + index)),
    );
    expect(lines.at(-1)).toBe(`Paid ${(await service.readSums(account)).debited} credits`);
  });

  test("ends when the credits are used up, and says so", async () => {
    const { key } = await service.createAccountWithKey(2);
    const example = startFollowing(key, "soup");
    await example.waitFor("Paid");
    const { status, lines, errors } = await example.stop();
    expect({ status, paid: lines.at(-1) }).toEqual({ status: 1, paid: "Paid 2 credits" });
    expect(errors).toStartWith("Insufficient Credits: ");
  });
});
