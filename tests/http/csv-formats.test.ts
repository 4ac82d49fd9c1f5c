/** Which format a response has: the parameter format, the header Accept, and the response cache. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CSV_LISTS, startListService, withParameter } from "../support/csv-lists.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startListService();
});
afterAll(() => service.close());

const CSV = { headers: { accept: "text/csv" } };

describe("the format of a response", () => {
  test.each([
    ["format=json", "text/csv", "application/json"],
    ["format=csv", "application/json", "text/csv; charset=utf-8; header=present"],
    ["format=csv", "*/*", "text/csv; charset=utf-8; header=present"],
    ["f%6Frmat=csv", "*/*", "text/csv; charset=utf-8; header=present"],
    ["x=1", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json"],
    ["x=1", "application/json, text/csv", "application/json"],
    ["x=1", "image/png", "application/json"],
  ])("200: %s with Accept: %s is %s", async (parameter, accept, type) => {
    for (const [path] of CSV_LISTS) {
      const init = { headers: { accept } };
      const response = await service.get(withParameter(path, parameter), service.key, init);
      expect([path, response.headers.get("content-type")]).toEqual([path, type]);
    }
  });

  test.each(CSV_LISTS)("200: JSON and CSV of %s are cached apart", async (path) => {
    const read = async (init: RequestInit, url = path) => {
      const response = await service.get(url, service.key, init);
      return [
        response.headers.get("content-type"),
        response.headers.get("etag"),
        await response.text(),
      ];
    };
    const encodings = ["identity", "gzip", "zstd"].map((encoding) => ({
      "accept-encoding": encoding,
    }));
    for (const headers of encodings) {
      const csv = await read({ headers: { ...headers, accept: "text/csv" } });
      const json = await read({ headers });
      expect([json[0], csv[0]]).toEqual([
        "application/json",
        "text/csv; charset=utf-8; header=present",
      ]);
      for (let round = 0; round < 2; round++) {
        expect(await read({ headers })).toEqual(json);
        expect(await read({ headers: { ...headers, accept: "text/csv" } })).toEqual(csv);
      }
      const both = await Promise.all([
        read({ headers }),
        read({ headers: { ...headers, accept: "text/csv" } }),
      ]);
      expect(both).toEqual([json, csv]);
    }
  });

  test("304: each format has its own entity tag", async () => {
    const path = "/api/video/soup/history";
    const [json, csv] = [await service.get(path), await service.get(path, service.key, CSV)];
    const getStatus = async (response: Response, accept: string) => {
      const headers = { accept, "if-none-match": response.headers.get("etag") ?? "" };
      const again = await service.get(path, service.key, { headers });
      expect(again.headers.get("x-credits-cost")).toBe("1");
      return again.status;
    };
    expect(await getStatus(json, "*/*")).toBe(304);
    expect(await getStatus(csv, "text/csv")).toBe(304);
    expect(await getStatus(csv, "*/*")).toBe(200);
    expect(await getStatus(json, "text/csv")).toBe(200);
  });

  test("200: with CORS_ORIGINS, Vary has Accept too", async () => {
    const other = await startTestService({ CORS_ORIGINS: "*" });
    try {
      const response = await other.get("/api/video/channels", other.key, CSV);
      expect(response.headers.get("vary")).toBe("X-API-Key, Accept-Encoding, Origin, Accept");
    } finally {
      await other.close();
    }
  });

  test.each(CSV_LISTS)("400: a wrong format of %s costs nothing", async (path) => {
    const { account, key } = await service.createAccountWithKey(10);
    for (const [value, got] of [
      ["xml", '"xml"'],
      ["CSV", '"CSV"'],
      ["", '""'],
      ["csv%20", '"csv "'],
    ] as const) {
      for (const init of [{}, CSV]) {
        const response = await service.get(withParameter(path, `format=${value}`), key, init);
        expect(response.status).toBe(400);
        expect(response.headers.get("content-type")).toBe("application/json");
        expect(Object.values(Object(await response.json())).join(": ")).toEndWith(
          `Invalid Request: format must be one of json, csv, got ${got}`,
        );
      }
    }
    const twice = await service.get(withParameter(path, "format=csv&format=csv"), key);
    expect([twice.status, await service.readSums(account)]).toEqual([
      400,
      { balance: 10, debited: 0, refunded: 0 },
    ]);
  });
});
