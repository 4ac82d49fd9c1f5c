/** What reads of saved lists cost: under concurrency, repeated, aborted, with too few credits. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { FREE_REPEATS_MAX } from "../../core/limits.ts";
import { countClosedReads, waitForCharged } from "../support/closed-reads.ts";
import {
  CHANNELS,
  createAccountWithClient,
  INTERFACES,
  USERS,
  type ListClient,
} from "../support/listed-reads.ts";
import { sendPartial, sendRaw } from "../support/network/raw-http.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let client: ListClient;
let account: string;
let key: string;

beforeAll(async () => {
  service = await startTestService();
  await service.observe(...CHANNELS, ...USERS);
});
afterAll(() => service.close());
beforeEach(async () => {
  ({ account, key, client } = await createAccountWithClient(service, 1000));
});

const charged = async () => (await service.readSums(account)).debited;

describe.each(INTERFACES)("list= of /api/$part", ({ part, listField, names, list }) => {
  test("402: a list that costs more than the balance debits nothing", async () => {
    const poor = await createAccountWithClient(service, 3);
    await poor.client.putList("Rivals", { [listField]: names });
    const path = `/api/${part}/compare?list=Rivals`;
    const refused = await poor.client.read(path);
    expect([refused.status, refused.cost]).toEqual([402, null]);
    expect((await poor.client.post(`/api/${part}/details`, { list: "Rivals" })).status).toBe(402);
    await poor.client.putList("Rivals", { [listField]: names.slice(1) });
    expect((await poor.client.read(path)).status).toBe(200);
    expect((await service.readSums(poor.account)).balance).toBe(0);
  });

  test("402: of 200 requests at once, as many are served as the balance pays for", async () => {
    const poor = await createAccountWithClient(service, 101);
    await poor.client.putList("Rivals", { [listField]: names.slice(0, 3) });
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 2 === 0
          ? poor.client.read(`/api/${part}/compare?list=Rivals&_=${index % 5}`)
          : poor.client.post(`/api/${part}/details`, { list: "Rivals" }),
      ),
    );
    const counts = Map.groupBy(responses, ({ status, cost }) => `${status} ${cost}`);
    expect([counts.get("200 3")?.length, counts.get("402 null")?.length]).toEqual([33, 167]);
    expect(await service.readSums(poor.account)).toEqual({ balance: 2, debited: 99, refunded: 0 });
  });

  test("an idempotency key is free for the same names, and 400 for others", async () => {
    const path = `/api/${part}/details`;
    const send = (name: string) =>
      client
        .post(path, { list: "Rivals" }, { "idempotency-key": name })
        .then(({ status, cost }) => [status, cost]);
    await client.putList("Rivals", { [listField]: names });
    expect(await send("one")).toEqual([200, 4]);
    expect(await send("one")).toEqual([200, 0]);
    // With the names of before, it is the same request again.
    await client.putList("Rivals", { [listField]: names.slice(1) });
    expect(await send("one")).toEqual([400, null]);
    await client.putList("Rivals", { [listField]: names });
    for (let repeat = 1; repeat < FREE_REPEATS_MAX; repeat++) await send("one");
    expect(await send("one")).toEqual([200, 4]);
    expect(await charged()).toBe(8);
  });

  test("50 requests while the list changes: each pays for the names that it shows", async () => {
    const changes = async () => {
      for (let size = 1; size <= 10; size++) {
        await client.putList("Rivals", {
          [listField]: CHANNELS.slice(0, size).map(({ username }) => username),
        });
      }
    };
    await client.putList("Rivals", { [listField]: names });
    const requests = Array.from({ length: 50 }, async (_, index) => {
      const { status, cost, text } =
        index % 2 === 0
          ? await client.read(`/api/${part}/compare?list=Rivals&_=${index % 3}`)
          : await client.post(`/api/${part}/details`, { list: "Rivals" });
      const body = JSON.parse(text);
      expect([status, (body[list] ?? body.results).length]).toEqual([200, cost]);
      return cost ?? 0;
    });
    const [costs] = await Promise.all([Promise.all(requests), changes()]);
    expect(await charged()).toBe(costs.reduce((sum, cost) => sum + cost, 0));
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });

  test("a request whose connection closes is refunded or never charged", async () => {
    await client.putList("Rivals", { [listField]: names });
    const path = `/api/${part}/compare?list=Rivals`;
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
    const closedBefore = await countClosedReads(service);
    // Bun closes the connection of a request that comes before the response to the one before.
    const sent = Array.from({ length: 20 }, () => sendRaw(service.address, request + request));
    await Promise.all(sent);
    await sendPartial(service.address, request.slice(0, -5));
    const answered = (await Promise.all(sent)).filter((text) => text !== "").length;
    expect(await waitForCharged(service, account, closedBefore + 20 - answered)).toBe(4 * answered);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });
});
