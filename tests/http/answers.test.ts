import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { createAnswers, finishAnswer } from "../../server/http/answers.ts";
import { NOW, startService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const at = (offset: number) => new Date(NOW + offset).toISOString();
const bodyOf = async (path: string): Promise<unknown> => (await service.get(path)).json();

describe("an answer that is kept", () => {
  test("is never stale: what was observed is in the next answer", async () => {
    for (let count = 1; count <= 20; count++) {
      await service.observe({
        kind: "user",
        observedAt: at(count - 1000),
        username: "Nasa",
        followers_count: count,
      });
      for (const name of ["nasa", "NASA"]) {
        expect(await bodyOf(`/api/microblog/${name}/details`)).toMatchObject({
          followers_count: count,
        });
        expect(await bodyOf(`/api/microblog/${name}/followers`)).toMatchObject({
          pagination: { total: count },
        });
      }
    }
  });

  test("is for reads alone: another method is refused, and not charged", async () => {
    const { key, account } = await service.createAccess(9);
    const path = "/api/video/channels";
    for (let read = 0; read < 2; read++) expect((await service.get(path, key)).status).toBe(200);
    for (const method of ["POST", "PATCH", "DELETE"]) {
      const response = await service.get(path, key, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
    expect(await service.sumsOf(account)).toMatchObject({ debited: 2, balance: 7 });
  });

  test("follows a tweet from one user to another", async () => {
    const tweet = (username: string, offset: number) => ({
      kind: "tweet",
      observedAt: at(offset),
      username,
      id: "moving",
      created_at: at(-DAY_MS),
    });
    await service.observe(tweet("giver", -3000), tweet("taker", -4000));
    const totals = async () => {
      const pages = await Promise.all(
        ["giver", "taker"].map((name) => service.get(`/api/microblog/${name}/tweets`)),
      );
      return pages.map(({ status }) => status);
    };
    expect(await totals()).toEqual([200, 404]);
    await service.observe(tweet("taker", -2000));
    expect(await totals()).toEqual([404, 200]);
  });

  test("follows a short from one channel to another", async () => {
    const short = (channel: string, offset: number) => ({
      kind: "short",
      observedAt: at(offset),
      channel,
      id: "wandering",
      publishedAt: at(-DAY_MS),
    });
    for (const id of ["losing", "winning"]) {
      await service.observe({ kind: "channel", observedAt: at(-9000), id });
    }
    await service.observe(short("losing", -3000));
    const lists = () =>
      Promise.all(
        ["losing", "winning"].map(
          async (name) => Object(await bodyOf(`/api/video/${name}/shorts`)).shorts.length,
        ),
      );
    expect(await lists()).toEqual([1, 0]);
    await service.observe(short("winning", -2000));
    expect(await lists()).toEqual([0, 1]);
    expect((await service.get("/api/video/losing/short/wandering")).status).toBe(404);
  });

  test("follows a username from one channel to another", async () => {
    const channel = (id: string, offset: number, username?: string) => ({
      kind: "channel",
      observedAt: at(offset),
      id,
      username,
    });
    await service.observe(channel("first", -5000, "Soup"), channel("second", -6000, "soup"));
    const idOf = async (name: string) => Object(await bodyOf(`/api/video/${name}/details`)).id;
    expect([await idOf("soup"), await idOf("SOUP")]).toEqual(["first", "first"]);
    await service.observe(channel("second", -4000));
    expect([await idOf("soup"), await idOf("SOUP")]).toEqual(["second", "second"]);
    await service.observe(channel("soup", -9000));
    expect([await idOf("soup"), await idOf("SOUP")]).toEqual(["soup", "second"]);
  });

  test("follows a short that comes before its channel, and the list of channels", async () => {
    const short = {
      kind: "short",
      observedAt: at(-10),
      id: "s",
      channel: "late",
      publishedAt: at(-99),
    };
    await service.observe(short);
    expect((await service.get("/api/video/late/shorts")).status).toBe(404);
    const count = async () => Object(await bodyOf("/api/video/channels")).channels.length;
    const before = await count();
    await service.observe({ kind: "channel", observedAt: at(-9), id: "late" });
    expect(await count()).toBe(before + 1);
    expect(await bodyOf("/api/video/late/shorts")).toMatchObject({ shorts: [{ id: "s" }] });
    await service.observe({ ...short, observedAt: at(-5), views: 7 });
    expect(await bodyOf("/api/video/late/shorts")).toMatchObject({ shorts: [{ views: 7 }] });
    expect(await bodyOf("/api/video/late/short/s")).toMatchObject({ metrics: { views: 7 } });
  });

  test("loses an item when time moves it out of the days, to the millisecond", async () => {
    await service.observe(
      { kind: "tweet", observedAt: at(-9), username: "old", id: "o", created_at: at(-9) },
      { kind: "user", observedAt: at(-9), username: "old", followers_count: 1 },
    );
    const totals = () =>
      Promise.all(
        ["tweets", "followers"].map(async (what) => {
          const page = await bodyOf(`/api/microblog/old/${what}?days=1`);
          return Object(page).pagination.total;
        }),
      );
    expect(await totals()).toEqual([1, 1]);
    service.clock.now = NOW - 9 + DAY_MS;
    expect(await totals()).toEqual([1, 1]);
    service.clock.now++;
    expect(await totals()).toEqual([0, 0]);
    service.clock.now = NOW;
    expect(await totals()).toEqual([1, 1]);
  });
});

describe("ETag", () => {
  test("304: what the client has still holds; it is charged the same and has no body", async () => {
    await service.observe({ kind: "user", observedAt: at(-70), username: "tag", tweet_count: 1 });
    const { key, account } = await service.createAccess(10);
    const path = "/api/microblog/tag/details";
    const etag = (await service.get(path, key)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await service.get(path, key, { headers: { "if-none-match": known } });
      expect([response.status, await response.text()]).toEqual([304, ""]);
      expect(response.headers.get("etag")).toBe(etag);
      expect(response.headers.has("content-type")).toBe(false);
      expect(response.headers.get("x-credits-cost")).toBe("1");
    }
    expect(await service.sumsOf(account)).toMatchObject({ debited: 5 });
    await service.observe({ kind: "user", observedAt: at(-60), username: "tag", tweet_count: 2 });
    const headers = { "if-none-match": etag };
    const changed = await service.get(path, key, { headers });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  test("304: what the answer tells of itself beside its body is there as well", async () => {
    const published = { publishedAt: at(-70), channel: "many" };
    await service.observe(
      { kind: "channel", observedAt: at(-70), id: "many" },
      { kind: "short", observedAt: at(-70), id: "many1", ...published },
      { kind: "short", observedAt: at(-70), id: "many2", ...published },
      ...Array.from({ length: 1001 }, (_, index) => ({
        kind: "short",
        observedAt: at(-2000 + index),
        id: "many3",
        ...published,
      })),
    );
    const headers = { "if-none-match": "*" };
    const page = await service.get("/api/video/many/shorts?limit=1", service.key, { headers });
    expect([page.status, page.headers.get("link")]).toEqual([304, expect.stringMatching(/next/)]);
    const long = await service.get("/api/video/many/short/many3", service.key, { headers });
    expect([long.status, long.headers.get("x-history-thinned")]).toEqual([304, "1"]);
  });
});

const PRICED = { endpoint: "/{a}", route: "/:a", cost: 1 };

describe("createAnswers", () => {
  const answer = (body: string, subjects: string[]) => finishAnswer({ body, subjects }, PRICED);

  test("createAnswers() keeps no more than its bound, the answers that were asked for last", () => {
    const answers = createAnswers(40_000);
    answers.forget({ sequence: 1, subjects: undefined });
    const body = "x".repeat(1000);
    for (let index = 0; index < 100; index++) answers.keep(`/${index}`, answer(body, ["a"]), 1);
    const kept = Array.from({ length: 100 }, (_, index) => index).filter(
      (index) => answers.find(`/${index}`, 0) !== undefined,
    );
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThan(15);
    expect(kept.at(-1)).toBe(99);
    answers.keep("/huge", answer("x".repeat(40_000), ["a"]), 1);
    answers.keep("/large", answer("x".repeat(10_000), ["a"]), 1);
    expect([answers.find("/huge", 0), answers.find("/large", 0)]).toEqual([undefined, undefined]);
    expect(answers.find("/99", 0)).toBeDefined();
  });

  test("createAnswers().make() joins requests whose debits saw the same changes", async () => {
    const answers = createAnswers();
    let made = 0;
    const read = async () => {
      await Bun.sleep(1);
      return answer(`number ${++made}`, ["a"]);
    };
    const sequences = [1, 1, 2, 2];
    const bodies = await Promise.all(
      sequences.map(async (sequence) => (await answers.make("/a", sequence, read)).body),
    );
    expect(bodies).toEqual(['"number 1"', '"number 1"', '"number 2"', '"number 2"']);
    expect((await answers.make("/a", 2, read)).body).toBe('"number 3"');
    const failed = () => answers.make("/a", 2, () => Promise.reject(new Error("It failed")));
    expect(await Promise.allSettled([failed(), failed()])).toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
    expect((await answers.make("/a", 2, read)).body).toBe('"number 4"');
  });

  test("createAnswers() does not keep what was read before a change it has heard of", () => {
    const answers = createAnswers();
    answers.forget({ sequence: 1, subjects: [] });
    answers.forget({ sequence: 2, subjects: ["a"] });
    answers.keep("/a", answer("old", ["a"]), 1);
    expect(answers.find("/a", 0)).toBeUndefined();
    answers.keep("/a", answer("new", ["a"]), 2);
    answers.keep("/b", answer("other", ["b"]), 2);
    const held = answers.find("/a", 0);
    answers.forget({ sequence: 3, subjects: ["a"] });
    expect([answers.find("/a", 0), held?.isOld]).toEqual([undefined, true]);
    expect(answers.find("/b", 0)?.body).toBe('"other"');
    answers.forget({ sequence: 900, subjects: undefined });
    expect(answers.find("/b", 0)).toBeUndefined();
  });
});
