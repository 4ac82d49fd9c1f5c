import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/time.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

interface Line {
  readonly at: string;
  readonly kind: string;
  readonly key: number | null;
  readonly endpoint: string | null;
  readonly requests: number | null;
  readonly amount: number;
  readonly balance: number;
}

interface Page {
  readonly lines: readonly Line[];
  readonly next: string | null;
}

async function readPage(account: string, query: Readonly<Record<string, string>> = {}) {
  const parameters = new URLSearchParams({ account, ...query });
  return (await service.admin("GET", `statement?${parameters}`)) as Page;
}

async function readAll(account: string, query: Readonly<Record<string, string>> = {}) {
  const lines: Line[] = [];
  let page = await readPage(account, query);
  for (;;) {
    lines.push(...page.lines);
    if (page.next === null) return lines;
    page = await readPage(account, { ...query, since: page.next });
  }
}

describe("GET /admin/statement", () => {
  test("names hour, key and endpoint of the debits, and reconciles with the balance", async () => {
    const { account, key } = await service.createAccountWithKey(10);
    const second = await service.admin("POST", "keys", { account, label: "second" });
    const otherKey = String(Object(second).key);
    const read = (path: string, apiKey: string) => service.get(path, apiKey);
    await read("/api/video/channels", key);
    await read("/api/video/channels", key);
    await read("/api/video/nobody/details", otherKey);
    service.clock.now = NOW + 2 * HOUR_MS;
    await service.admin("POST", "grants", { account, amount: 5, reference: "r" });
    await read("/api/video/channels", otherKey);
    service.clock.now = NOW;
    const lines = await readAll(account);
    const ofSecond = { label: "second" };
    expect(lines).toMatchObject([
      { at: "2026-11-20T12:00:00.000Z", kind: "grant", amount: 10, balance: 10, key: null },
      { kind: "debit", endpoint: "/api/video/channels", requests: 2, amount: 2, balance: 8 },
      { kind: "debit", endpoint: "/api/video/{channel}/details", ...ofSecond, balance: 7 },
      { at: "2026-11-20T14:00:00.000Z", kind: "grant", reference: "r", balance: 12 },
      { at: "2026-11-20T14:00:00.000Z", kind: "debit", requests: 1, ...ofSecond, balance: 11 },
    ]);
    expect(lines.at(-1)?.balance).toBe((await service.readSums(account)).balance);
    // A part of the time begins with the balance before it.
    expect(await readAll(account, { since: "2026-11-20T13:00:00Z" })).toEqual(lines.slice(3));
    expect(await readAll(account, { until: "2026-11-20T14:00:00Z" })).toEqual(lines.slice(0, 3));
    expect(await readAll(account, { since: "2026-11-21" })).toEqual([]);
    expect(await readAll(account, { until: "2026-11-20" })).toEqual([]);
  });

  test("has pages of whole hours, and no line twice or never, however many an hour has", async () => {
    const { account } = await service.createAccountWithKey(1);
    const grants = `
      WITH RECURSIVE grants(number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM grants LIMIT 5000
      )
      INSERT INTO journal (uid, account, kind, amount, at)
      SELECT 'grant ' || number, id, 'grant', 1, number / 400 * ${HOUR_MS}
      FROM grants
      JOIN accounts ON name = ?`;
    const crowded = `
      WITH RECURSIVE grants(number) AS (
        SELECT 1 UNION ALL SELECT number + 1 FROM grants LIMIT 2500
      )
      INSERT INTO journal (uid, account, kind, amount, at)
      SELECT 'more ' || number, id, 'grant', 1, ${5 * HOUR_MS}
      FROM grants
      JOIN accounts ON name = ?`;
    await service.service.database.write([
      { sql: grants, args: [account] },
      { sql: crowded, args: [account] },
    ]);
    const lines = await readAll(account);
    expect(lines.length).toBe(7501);
    expect(lines.map(({ balance }) => balance)).toEqual(lines.map((_, index) => index + 1));
    expect((await readPage(account)).lines.length).toBeLessThan(1100);
    const hours = [...new Set(lines.map(({ at }) => at))];
    expect(hours).toEqual(hours.toSorted());
  });
});
