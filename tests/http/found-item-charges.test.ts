/** What batches and comparisons of shorts and tweets cost: concurrent, repeated, closed, unpaid. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatInstant, HOUR_MS } from "../../core/time.ts";
import { countClosedReads, waitForCharged } from "../support/closed-reads.ts";
import { sendRaw } from "../support/network/raw-http.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const IDS = ["a", "b", "c", "d"];

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  const observedAt = formatInstant(NOW - HOUR_MS);
  await service.observe(
    { kind: "channel", id: "UC1", observedAt },
    ...IDS.flatMap((id) => [
      { kind: "short", channel: "UC1", publishedAt: observedAt, id, observedAt, views: 1 },
      { kind: "tweet", username: "nasa", created_at: observedAt, id, observedAt, impressions: 1 },
    ]),
  );
});
afterAll(() => service.close());

describe.each([
  { batch: "/api/video/shorts", comparison: "/api/video/compare-shorts" },
  { batch: "/api/microblog/tweets", comparison: "/api/microblog/compare-tweets" },
])("POST $batch and GET $comparison", ({ batch, comparison }) => {
  const sendBatch = (key: string, ids: readonly string[], headers: Record<string, string> = {}) =>
    service.send(batch, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", ...headers },
      body: JSON.stringify({ ids }),
    });
  const getCost = ({ status, headers }: Response) => `${status} ${headers.get("x-credits-cost")}`;

  test("402: more items than the balance pays for debit nothing", async () => {
    const { key, account } = await service.createAccountWithKey(3);
    const query = `${comparison}?ids=${IDS.join()}`;
    expect([(await sendBatch(key, IDS)).status, (await service.get(query, key)).status]).toEqual([
      402, 402,
    ]);
    expect(await service.readSums(account)).toEqual({ balance: 3, debited: 0, refunded: 0 });
    expect(getCost(await sendBatch(key, IDS.slice(1)))).toBe("200 3");
  });

  test("402: of 200 requests at once, as many are served as the balance pays for", async () => {
    const { key, account } = await service.createAccountWithKey(101);
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 2 === 0
          ? service.get(`${comparison}?ids=a,b,c&by=age&_=${index % 5}`, key)
          : sendBatch(key, IDS.slice(1)),
      ),
    );
    const counts = Map.groupBy(responses, getCost);
    expect([counts.get("200 3")?.length, counts.get("402 null")?.length]).toEqual([33, 167]);
    expect(await service.readSums(account)).toEqual({ balance: 2, debited: 99, refunded: 0 });
  });

  test("an idempotency key is free for the same items, and 400 for others", async () => {
    const { key, account } = await service.createAccountWithKey(100);
    const headers = { "idempotency-key": "one" };
    expect(getCost(await sendBatch(key, IDS, headers))).toBe("200 4");
    expect(getCost(await sendBatch(key, IDS, headers))).toBe("200 0");
    expect((await sendBatch(key, ["a"], headers)).status).toBe(400);
    expect((await service.readSums(account)).debited).toBe(4);
  });

  test("a request whose connection closes is refunded or never charged", async () => {
    const { key, account } = await service.createAccountWithKey(1000);
    const body = JSON.stringify({ ids: IDS });
    const head = `Host: x\r\nX-API-Key: ${key}\r\n`;
    const requests = [
      `GET ${comparison}?ids=${IDS.join()} HTTP/1.1\r\n${head}\r\n`,
      `POST ${batch} HTTP/1.1\r\n${head}Content-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    ];
    const closedBefore = await countClosedReads(service);
    // Bun closes the connection of a request that comes before the response to the one before.
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, index) => requests[index % 2] ?? "").map((request) =>
        sendRaw(service.address, request + request),
      ),
    );
    const answered = sent.filter((text) => text !== "").length;
    expect(answered).toBeLessThan(20);
    expect(await waitForCharged(service, account, closedBefore + 20 - answered)).toBe(4 * answered);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });
});
