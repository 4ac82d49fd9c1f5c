/** Reads of commands: through the owner of the database, without a key and a charge. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(
    { kind: "channel", observedAt: "2026-11-20", id: "UC1", username: "soup", subscribers: 7 },
    { kind: "user", observedAt: "2026-11-20", username: "nasa", followers_count: 5 },
  );
});
afterAll(() => service.close());

const send = (path: string, init?: RequestInit) =>
  service.service.owner.handle(new Request(`http://localhost${path}`, init));

const post = (body: unknown) =>
  send("/api/microblog/details", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const countJournal = () => service.service.database.queryJson("SELECT count(*) FROM journal", []);

describe("serveUncharged()", () => {
  test.each([
    "/api/video/soup/details",
    "/api/video/soup/history?from=2026-11-01&format=csv",
    "/api/video/channels?search=so&limit=1",
    "/api/microblog/users",
  ])("serves %s like the API, and charges nothing", async (path) => {
    const entries = await countJournal();
    const response = await send(path);
    expect(response.status).toBe(200);
    expect(response.headers.has("x-credits-cost")).toBe(false);
    const body = await response.text();
    expect(await countJournal()).toEqual(entries);
    const charged = await service.get(path);
    expect([body, response.headers.get("content-type")]).toEqual([
      await charged.text(),
      charged.headers.get("content-type"),
    ]);
  });

  test("serves a batch", async () => {
    const response = await post({ usernames: ["nasa", "nobody"] });
    expect(await response.json()).toMatchObject({ results: [{ found: true }, { found: false }] });
  });

  test("is never older than an import", async () => {
    const readFollowers = async () =>
      Object(await (await send("/api/microblog/grows/details")).json()).followers_count;
    for (let followers_count = 1; followers_count <= 5; followers_count++) {
      const observedAt = `2026-11-1${followers_count}`;
      await service.observe({ kind: "user", observedAt, username: "grows", followers_count });
      expect(await readFollowers()).toBe(followers_count);
    }
  });

  test.each([
    ["/api/video/nobody/details", 404, "Channel nobody not found"],
    ["/api/video/soup/history?interval=year", 400, "interval must be one of"],
    ["/api/video/soup/details?fast=1", 400, "This operation has no query parameters"],
    ["/api/video/compare?list=Rivals", 400, "Only keys of accounts have saved lists"],
    ["/api/account", 404, "There is no path /api/account for commands"],
    ["/api/creators", 404, "There is no path /api/creators for commands"],
    ["/api/nothing", 404, "There is no path /api/nothing for commands"],
  ])("answers %s with %d", async (path, status, message) => {
    const response = await send(path);
    expect([response.status, await response.text()]).toEqual([
      status,
      expect.stringContaining(message),
    ]);
  });

  test("is not served to clients without a key", async () => {
    expect((await service.send("/api/video/soup/details")).status).toBe(401);
  });
});
