/** The lists that the API also gives as CSV. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatInstant } from "../../core/time.ts";
import { readCsvObjects, readCsvRows } from "../support/csv-rows.ts";
import { CSV_LISTS, startListService, TRICKY_TITLE, withParameter } from "../support/csv-lists.ts";
import { NOW, type TestService } from "../support/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startListService();
});
afterAll(() => service.close());

const CSV = { headers: { accept: "text/csv" } };

function getList(body: unknown, steps: readonly string[]): object[] {
  const list = steps.reduce((value, step): unknown => Object(value)[step], body);
  return Array.isArray(list) ? list : [];
}

/** What a row has for an item: nested objects become columns, and null an empty cell. */
function flatten(item: object, prefix = ""): Record<string, string> {
  const entries = Object.entries(item).map(([name, value]: [string, unknown]) =>
    Array.isArray(value)
      ? { [prefix + name]: value.map(({ day, value: count }) => `${day}:${count}`).join(" ") }
      : typeof value === "object" && value !== null
        ? flatten(value, `${prefix}${name}.`)
        : { [prefix + name]: value === null ? "" : String(value) },
  );
  return Object.assign({}, ...entries);
}

describe("CSV", () => {
  test.each(CSV_LISTS)(
    "200: %s has the items of the JSON as rows",
    async (path, name, ...steps) => {
      const json = await service.get(path);
      const items = getList(await json.json(), steps).map((item) => flatten(item));
      for (const csv of [
        await service.get(withParameter(path, "format=csv")),
        await service.get(path, service.key, CSV),
      ]) {
        const { headers } = csv;
        expect(csv.status).toBe(200);
        expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
        expect(headers.get("content-disposition")).toBe(`attachment; filename="${name}"`);
        expect(headers.get("vary")).toBe("X-API-Key, Accept-Encoding, Accept");
        expect(headers.get("x-credits-cost")).toBe("1");
        expect(headers.get("x-observed-at")).toBe(json.headers.get("x-observed-at"));
        expect(headers.get("etag")).not.toBe(json.headers.get("etag"));
        const text = await csv.text();
        expect(readCsvObjects(text)).toEqual(items);
        expect(readCsvRows(text)[0]?.length).toBeGreaterThan(2);
      }
      expect(json.headers.get("content-type")).toBe("application/json");
      expect(json.headers.get("vary")).toBe("X-API-Key, Accept-Encoding, Accept");
      expect(json.headers.get("content-disposition")).toBeNull();
    },
  );

  test("200: texts stay as they are: quotes, line breaks, right-to-left, emoji, formulas", async () => {
    const response = await service.get("/api/video/soup/shorts?limit=1&format=csv");
    const text = await response.text();
    expect(readCsvObjects(text)[0]?.["title"]).toBe(TRICKY_TITLE);
    expect(text).toContain(`,"${TRICKY_TITLE.replaceAll('"', '""')}",`);
  });

  test("200: an unknown value is an empty cell, an empty text is quoted", async () => {
    const response = await service.get("/api/microblog/users?format=csv");
    expect(await response.text()).toBe(
      "username,displayName,followers_count,following_count,tweet_count,profile_image_url,verified\r\n" +
        'Someone,"",500,,,,true\r\n',
    );
  });

  test("200: an empty page has the column that it is sorted by", async () => {
    const path = "/api/video/channels?search=nothing&sort=monthlyViewGain&format=csv";
    const header = "id,username,displayName,subscribers,videoCount,thumbnail,monthlyViewGain\r\n";
    expect(await (await service.get(path)).text()).toBe(header);
  });

  test.each([
    "/api/video/soup/history?interval=raw&limit=25&from=2026-11-01",
    "/api/video/channels?limit=100",
    "/api/video/soup/shorts?limit=2",
    "/api/microblog/someone/followers?limit=20&days=14",
    "/api/microblog/someone/followers?page=1&limit=20&days=14",
  ])("200: %s continues at Link until there is no more", async (path) => {
    for (const accept of ["text/csv", undefined]) {
      let next: string | undefined = accept === undefined ? `${path}&format=csv` : path;
      const rows: string[][] = [];
      let pages = 0;
      for (; next !== undefined; pages++) {
        const init = accept === undefined ? {} : CSV;
        const response: Response = await service.get(next, service.key, init);
        const [header, ...more] = readCsvRows(await response.text());
        expect(header?.length).toBeGreaterThan(2);
        rows.push(...more);
        next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
        expect(next?.includes("format=csv") ?? accept === undefined).toBe(accept === undefined);
      }
      expect(pages).toBeGreaterThan(1);
      const keys = rows.map((row) => row.join());
      expect(new Set(keys).size).toBe(rows.length);
    }
  });

  test("200: HEAD has the headers of the CSV, and no body", async () => {
    const path = "/api/video/soup/history?format=csv";
    const get = await service.get(path);
    const head = await service.get(path, service.key, { method: "HEAD" });
    for (const name of ["content-type", "content-disposition", "etag", "vary", "x-credits-cost"]) {
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    }
    expect(await head.text()).toBe("");
  });

  test("200: the JSON of followers has no Link", async () => {
    const response = await service.get("/api/microblog/someone/followers?limit=20");
    expect(response.headers.get("link")).toBeNull();
  });

  test("400: operations without CSV have no format, and ignore Accept", async () => {
    for (const path of [
      "/api/video/soup/details",
      "/api/video/soup/short/s0",
      "/api/microblog/someone/details",
      "/api/microblog/someone/tweets",
      "/api/microblog/someone/tweet/7",
      "/api/account",
    ]) {
      const plain = await service.get(path);
      const accepted = await service.get(path, service.key, CSV);
      expect([accepted.status, accepted.headers.get("vary")]).toEqual([
        200,
        plain.headers.get("vary"),
      ]);
      const asked = await service.get(`${path}?format=csv`);
      expect([asked.status, await asked.text()]).toEqual([
        400,
        expect.stringContaining('got \\"format\\"'),
      ]);
      for (const { headers } of [accepted, asked]) {
        expect(headers.get("content-type")).toStartWith("application/json");
      }
    }
  });

  test("200: an observation changes the cached CSV", async () => {
    const own = await startListService();
    const path = "/api/microblog/someone/history?format=csv&interval=raw";
    const before = readCsvRows(await (await own.get(path)).text());
    await own.observe({
      kind: "user",
      observedAt: formatInstant(NOW + 1000),
      username: "Someone",
      displayName: "",
      followers_count: 1,
    });
    const after = readCsvRows(await (await own.get(path)).text());
    expect(after).toHaveLength(before.length + 1);
    expect(after.at(-1)?.slice(2)).toEqual(["1", "", "", "-499", "", ""]);
    await own.close();
  });

  test("402 and 404: errors are JSON", async () => {
    const { key } = await service.createAccountWithKey(1);
    const missing = await service.get("/api/video/nobody/history?format=csv", key);
    expect([missing.status, missing.headers.get("content-type")]).toEqual([
      404,
      "application/json",
    ]);
    const unpaid = await service.get("/api/video/soup/history", key, CSV);
    expect([unpaid.status, unpaid.headers.get("content-type")]).toEqual([402, "application/json"]);
  });
});
