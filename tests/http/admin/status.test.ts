import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { RESOURCES } from "../../../server/http/admin/resources.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService(
    { YOUTUBE_API_KEY: "12345678", BLUESKY_API_URL: "http://[::1]:1", COLLECT: "off" },
    undefined,
    { retryMinMs: 1 },
  );
  await service.observe(
    { kind: "channel", observedAt: "2026-11-19", id: "a", subscribers: 1 },
    { kind: "channel", observedAt: "2026-11-20", id: "a", subscribers: 2 },
    // Its channel b was never observed.
    { kind: "short", observedAt: "2026-11-18", id: "s", channel: "b" },
  );
});
afterAll(() => service.close());

const INSERT_FULL_ACCOUNTS = `
  INSERT INTO accounts (name, created_at)
  WITH RECURSIVE indexes(value) AS (
    SELECT 1 UNION ALL SELECT value + 1 FROM indexes WHERE value < 1030
  )
  SELECT 'full ' || value, 0
  FROM indexes`;

const INSERT_THEIR_GRANTS = `
  INSERT INTO journal (uid, account, kind, amount, at)
  SELECT name, id, 'grant', ?1, created_at
  FROM accounts
  WHERE name LIKE 'full %'`;

describe("GET /admin/status", () => {
  test("counts entities and observations exactly while they are few", async () => {
    expect(await service.admin("GET", "status")).toMatchObject({
      database: { durability: "process", outage: null },
      kinds: [
        {
          kind: "channel",
          entities: 1,
          observations: 2,
          is_estimated: false,
          newest: "2026-11-20T00:00:00.000Z",
        },
        { kind: "short", entities: 1, observations: 1, newest: "2026-11-18T00:00:00.000Z" },
        { kind: "user", entities: 0, observations: 0, newest: null },
        { kind: "tweet", entities: 0 },
      ],
    });
  });

  test("counts the credits that were spent, and the keys that are valid", async () => {
    const { account, key } = await service.createAccountWithKey(50);
    await service.admin("POST", "keys", { account, expires: "12h" });
    const before = await service.admin("GET", "status");
    expect((await service.get("/api/video/a/details", key)).status).toBe(200);
    service.clock.now += 13 * 3_600_000;
    expect(before).toMatchObject({ credits: { debited: 0 }, keys: { valid: 3, total: 3 } });
    expect(await service.admin("GET", "status")).toMatchObject({
      accounts: 2,
      keys: { valid: 2, total: 3 },
      credits: { granted: 1_000_050, debited: 1, refunded: 0, balance: 1_000_049 },
    });
  });

  test("sums credits of all accounts exactly, and says null beyond 2^53 - 1", async () => {
    const full = await startTestService();
    try {
      const readCredits = async () => {
        const status: unknown = await full.admin("GET", "status");
        expect(Array.from(Value.Errors(RESOURCES.ServiceStatus, status))).toEqual([]);
        return Object(status).credits;
      };
      const { granted } = await readCredits();
      const create = (name: string, credits: number) =>
        full.admin("POST", "accounts", { name, credits });
      await create("rest", INTEGER_MAX - granted);
      const most = { granted: INTEGER_MAX, debited: 0, refunded: 0, balance: INTEGER_MAX };
      expect(await readCredits()).toEqual(most);
      await create("one more", 1);
      const unknown = { granted: null, debited: 0, refunded: 0, balance: null };
      expect(await readCredits()).toEqual(unknown);
      // Together more than 2^63.
      await full.service.database.write([
        { sql: INSERT_FULL_ACCOUNTS, args: [] },
        { sql: INSERT_THEIR_GRANTS, args: [INTEGER_MAX] },
      ]);
      expect((await full.get("/api/video/a/details")).status).toBe(404);
      expect(await readCredits()).toEqual({ ...unknown, debited: 1 });
      const accounts: unknown = await full.admin("GET", "accounts");
      expect(accounts).toContainEqual(
        expect.objectContaining({ name: "full 7", granted: INTEGER_MAX, balance: INTEGER_MAX }),
      );
      expect(await full.admin("GET", "verification")).toMatchObject({ faults: [] });
      const statement: unknown = await full.admin("GET", "statement?account=full%207");
      expect(JSON.stringify(statement)).toContain(`"amount":${INTEGER_MAX}`);
      expect((await full.get("/metrics")).status).toBe(200);
    } finally {
      await full.close();
    }
  }, 60_000);

  test("says of each source how it is, its work, its last failure and its quotas", async () => {
    const { sources } = Object(await service.admin("GET", "status"));
    const unused = { last_failure: null, last_failure_reason: null };
    const work = { requests: 0, observations: 0, observed: 0, failed: 0 };
    const healthy = { status: "ok", reason: null, since: null, until: null };
    expect(sources).toMatchObject([
      { source: "youtube", ...healthy, ...unused, work },
      { source: "bluesky", ...healthy, ...unused, work },
    ]);
    expect(sources[0].quotas).toContainEqual({
      bucket: expect.any(String),
      used: 0,
      limit: 9000,
      paused_until: null,
    });
    await service.admin("POST", "creators", { creator: "nasa.gov" });
    await service.admin("POST", "collect");
    const after = Object(await service.admin("GET", "status")).sources[1];
    const { failed } = after.work;
    const at = new Date(service.clock.now).toISOString();
    expect(after).toMatchObject({
      source: "bluesky",
      status: "failing",
      since: at,
      last_failure: at,
      last_failure_reason: expect.stringMatching(/^Bluesky /),
    });
    expect(failed).toBeGreaterThan(0);
  });

  test("estimates observations of many entities from a sample", async () => {
    const lines = Array.from({ length: 6000 }, (_, index) =>
      JSON.stringify({
        kind: "tweet",
        observedAt: `2026-11-${10 + (index % 3)}`,
        id: String(index % 2000),
        username: "a",
        likes: index,
      }),
    );
    const own = await startTestService();
    await own.importLines(lines.join("\n"));
    expect(await own.admin("GET", "status")).toMatchObject({
      kinds: expect.arrayContaining([
        {
          kind: "tweet",
          entities: 2000,
          observations: 6000,
          is_estimated: true,
          newest: "2026-11-12T00:00:00.000Z",
        },
      ]),
    });
    await own.close();
  });
});
