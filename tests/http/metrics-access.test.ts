/** Who may read `/metrics`, by METRICS_TOKEN, METRICS_PORT and the tokens of administrators. */
import { afterEach, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../support/service.ts";

const METRICS_TOKEN = "a-token-of-the-scraper";
const ADMIN_TOKEN = "a-token-of-an-administrator";

let service: TestService | undefined;
afterEach(() => service?.close());

const open = async (settings: Readonly<Record<string, string>>) =>
  (service = await startTestService(settings));

const withToken = (token: string): RequestInit => ({
  headers: { authorization: `Bearer ${token}` },
});

describe("GET /metrics", () => {
  test("200 without a token by default, and names no account", async () => {
    const { send, get } = await open({});
    await get("/api/video/nobody/details");
    const response = await send("/metrics");
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain("account_credits_left_seconds{");
  });

  test("401 with METRICS_TOKEN, but for this token and those of administrators", async () => {
    const { send, get } = await open({ METRICS_TOKEN, ADMIN_TOKEN });
    await get("/api/video/nobody/details");
    const missing = await send("/metrics");
    expect([missing.status, Object(await missing.json()).error]).toEqual([401, "Missing API Key"]);
    const wrong = await send("/metrics", withToken(`${METRICS_TOKEN}x`));
    expect([wrong.status, await wrong.json()]).toEqual([
      401,
      {
        error: "Invalid API Key",
        message: "The bearer token is neither METRICS_TOKEN nor an administrator's",
      },
    ]);
    expect((await send("/metrics", withToken(ADMIN_TOKEN))).status).toBe(200);
    const response = await send("/metrics", withToken(METRICS_TOKEN));
    expect(response.status).toBe(200);
    // 999,999 credits are left, of which one was used in the last day, the shortest time that counts.
    expect(await response.text()).toMatch(
      /^creator_metrics_account_credits_left_seconds\{account="account 1"\} 86399913600$/m,
    );
  });

  test("wrong tokens do not lock out METRICS_TOKEN, which opens nothing else", async () => {
    const { send } = await open({ METRICS_TOKEN, ADMIN_TOKEN });
    const statuses = [];
    for (let guess = 0; guess < 6; guess++) {
      statuses.push((await send("/metrics", withToken(`a-wrong-token-${guess}`))).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await send("/metrics", withToken(METRICS_TOKEN))).status).toBe(200);
    expect((await send("/admin/accounts", withToken(METRICS_TOKEN))).status).toBe(429);
  }, 30_000);

  test("401 at PORT with METRICS_PORT, whose server has nothing else", async () => {
    const { send, get, service: parts } = await open({ METRICS_PORT: "0" });
    await get("/api/video/nobody/details");
    expect((await send("/metrics")).status).toBe(401);
    const request = (path: string, init?: RequestInit) =>
      parts.fetchMetrics(new Request(`http://localhost${path}`, init));
    const response = await request("/metrics");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toStartWith("text/plain");
    expect(await response.text()).toContain("account_credits_left_seconds{");
    expect((await request("/metrics", { method: "POST" })).status).toBe(405);
    for (const path of ["/", "/livez", "/api/creators", "/admin/accounts", "/metrics/"]) {
      expect((await request(path)).status).toBe(404);
    }
  });

  test("401 at METRICS_PORT without METRICS_TOKEN, if that is set", async () => {
    const { service: parts } = await open({ METRICS_PORT: "0", METRICS_TOKEN });
    const status = async (init?: RequestInit) =>
      (await parts.fetchMetrics(new Request("http://localhost/metrics", init))).status;
    expect(await status()).toBe(401);
    expect(await status(withToken("a-wrong-token-of-mine"))).toBe(401);
    expect(await status(withToken(METRICS_TOKEN))).toBe(200);
  });
});
