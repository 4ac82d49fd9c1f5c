/** Checks the formats that TypeBox knows once a schema is imported. */
import { describe, expect, test } from "bun:test";

describe("TypeBox by itself", () => {
  /** Runs in its own process, because other tests register formats in this one. */
  async function check(file: string, name: string, value: unknown): Promise<unknown> {
    const code =
      `import { Value } from "@sinclair/typebox/value"; ` +
      `import { ${name} } from "./core/schema/${file}.ts"; ` +
      `console.log(Value.Check(${name}, ${JSON.stringify(value)}))`;
    const root = new URL("../..", import.meta.url).pathname;
    const child = Bun.spawn([process.execPath, "-e", code], { cwd: root, stderr: "inherit" });
    return JSON.parse(await new Response(child.stdout).text());
  }

  const account = (day: string) => ({
    account: "acme",
    balance: 1,
    usage: [{ day, requests: 1, credits: 1, refunded: 0 }],
  });
  const user = (created_at: string) => ({
    username: "nasa",
    displayName: null,
    followers_count: null,
    following_count: null,
    tweet_count: null,
    profile_image_url: null,
    description: null,
    created_at,
    verified: null,
  });

  test.each([
    ["microblog", "UserDetails", user("2026-11-20T08:15:30.123Z"), true],
    ["microblog", "UserDetails", user("2026-02-30T08:15:30.123Z"), false],
    ["account", "AccountDetails", account("2026-11-20"), true],
    ["account", "AccountDetails", account("2026-11-31"), false],
  ] as const)("checks the formats of %s %s", async (file, name, value, isRight) => {
    expect(await check(file, name, value)).toBe(isRight);
  });
});
