/** Reads that name a saved list: comparisons, batches, and lists of channels and users. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  CHANNELS,
  createAccountWithClient,
  createListClient,
  INTERFACES,
  USERS,
  type ListClient,
} from "../support/listed-reads.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let client: ListClient;
let account: string;

beforeAll(async () => {
  service = await startTestService();
  // Its identifier is the username of another channel, and takes precedence.
  const twin = { kind: "channel", observedAt: "2026-11-20", id: "Soup1", username: "Twin" };
  await service.observe(...CHANNELS, ...USERS, twin);
});
afterAll(() => service.close());
beforeEach(async () => {
  ({ account, client } = await createAccountWithClient(service, 1000));
});

const charged = async () => (await service.readSums(account)).debited;

describe.each(INTERFACES)("list= of /api/$part", (tested) => {
  const { part, field, listField, names, list, expected } = tested;
  const listIds = (text: string) => JSON.parse(text)[list].map(tested.getId);

  test("200: a comparison is what the names give, at a credit a name", async () => {
    await client.putList("Rivals", { [listField]: names });
    const named = await client.read(`/api/${part}/compare?${field}=${names.join()}&limit=1`);
    const listed = await client.read(`/api/${part}/compare?list=rivals&limit=1`);
    expect([listed.status, listed.cost, listed.text]).toEqual([200, 4, named.text]);
    const cached = await client.read(`/api/${part}/compare?list=rivals&limit=1`);
    expect([cached.cost, cached.text]).toEqual([4, named.text]);
    expect(await charged()).toBe(12);
  });

  test("200: a batch is what the names give, at a credit a name", async () => {
    await client.putList("Rivals", { [listField]: names });
    const named = await client.post(`/api/${part}/details`, { [field]: names });
    const listed = await client.post(`/api/${part}/details`, { list: "RIVALS" });
    expect([listed.status, listed.cost, listed.text]).toEqual([200, 4, named.text]);
  });

  test("200: a page has only entities of the list, with other filters, at a credit", async () => {
    const path = `/api/${part}/${list}`;
    await client.putList("Rivals", { [listField]: [...names, names[0]] });
    const page = await client.read(`${path}?list=Rivals`);
    expect([page.cost, listIds(page.text)]).toEqual([1, [...expected]]);
    expect(listIds((await client.read(`${path}?list=Rivals&order=asc`)).text)).toEqual(
      expected.toReversed(),
    );
    expect(listIds((await client.read(`${path}?list=Rivals&search=up3`)).text)).toEqual([
      expected[0],
    ]);
    await client.putList("Empty", {});
    const empty = await client.read(`${path}?list=Empty`);
    expect([empty.status, empty.cost, listIds(empty.text)]).toEqual([200, 1, []]);
  });

  test("200: pages of one entity follow the Link header; the list may change in between", async () => {
    await client.putList("My rivals", { [listField]: names });
    const found: string[] = [];
    let path: string | undefined = `/api/${part}/${list}?list=My%20rivals&limit=1`;
    while (path !== undefined) {
      const { text, response } = await client.read(path);
      found.push(...listIds(text));
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
      // A new name before the position is not listed, one after it is.
      if (found.length === 1) {
        const later = [part === "video" ? "UC5" : "soup5", part === "video" ? "UC0" : "soup0"];
        await client.putList("My rivals", { [listField]: [...names, ...later] });
      }
    }
    expect(found).toEqual([...expected, part === "video" ? "UC0" : "Soup0"]);
  });

  test("200: CSV of a page", async () => {
    await client.putList("Rivals", { [listField]: names });
    const { text, response } = await client.read(`/api/${part}/${list}?list=Rivals&format=csv`);
    const rows = text.trimEnd().split("\r\n");
    expect(rows.slice(1).map((row) => row.split(",")[0])).toEqual([...expected]);
    expect(response.headers.get("content-type")).toStartWith("text/csv");
    const accepted = await client.read(`/api/${part}/${list}?list=Rivals`, {
      headers: { accept: "text/csv" },
    });
    expect(accepted.text).toBe(text);
  });

  test("400: too many names, none, both kinds of names, or no name of a list; free", async () => {
    const many = Array.from({ length: 101 }, (_, index) => `n${index}`);
    await client.putList("Many", { [listField]: many });
    await client.putList("Eleven", { [listField]: many.slice(0, 11) });
    await client.putList("Hundred", { [listField]: many.slice(0, 100) });
    await client.putList("Empty", { [listField]: [] });
    const compare = `/api/${part}/compare`;
    const refused = [
      [
        client.read(`${compare}?list=Eleven`),
        "The list Eleven must be 1 to 10 names, got 11 names",
      ],
      [client.read(`${compare}?list=Empty`), "The list Empty must be 1 to 10 names, got 0 names"],
      [
        client.read(`${compare}?list=Empty&${field}=a`),
        `The query must have either ${field} or list, got both`,
      ],
      [client.read(`${compare}?list=`), "list must be a name of 1 to 64 characters"],
      [
        client.read(`${compare}?list=a&list=b`),
        String.raw`list must be given once, got [\"a\",\"b\"]`,
      ],
      [client.read(`${compare}?list=nothing&limit=0`), "limit must be a whole number"],
      [client.read(`/api/${part}/${list}?list=%00`), "list must be a name of 1 to 64 characters"],
      [
        client.read(`/api/${part}/${list}?list=${"x".repeat(10_000)}`),
        "list must be a name of 1 to 64",
      ],
      [
        client.post(`/api/${part}/details`, { list: "Many" }),
        "The list Many must be 1 to 100 names, got 101 names",
      ],
      [
        client.post(`/api/${part}/details`, { list: "Empty", [field]: ["a"] }),
        `The body must have either ${field} or list, got both`,
      ],
      [
        client.post(`/api/${part}/details`, { list: 7 }),
        "list must be a name of 1 to 64 characters",
      ],
    ] as const;
    for (const [request, message] of refused) {
      const { status, cost, text } = await request;
      expect([status, cost]).toEqual([400, null]);
      expect(text).toContain(message);
    }
    expect(await charged()).toBe(0);
    expect((await client.post(`/api/${part}/details`, { list: "Hundred" })).cost).toBe(100);
  });

  test("401 and 403: a key without the scope lists reads no list; free", async () => {
    await client.putList("Rivals", { [listField]: names });
    const created = await service.admin("POST", "keys", { account, scopes: ["read"] });
    const reader = createListClient(service, String(Object(created).key));
    const stranger = createListClient(service, "cm_wrong");
    const paths = [`/api/${part}/compare?list=Rivals`, `/api/${part}/${list}?list=Rivals`];
    for (const path of paths) {
      expect((await client.read(path)).status).toBe(200);
      expect((await reader.read(path)).status).toBe(403);
      expect((await stranger.read(path)).status).toBe(401);
    }
    const body = { list: "Rivals" };
    const refused = await reader.post(`/api/${part}/details`, body);
    expect([refused.status, refused.cost]).toEqual([403, null]);
    expect((await reader.read(`/api/${part}/${list}?limit=1`)).status).toBe(200);
    expect(await charged()).toBe(names.length + 2);
  });

  test("404: an unknown list is free, and so is a list of another account", async () => {
    const other = await createAccountWithClient(service, 9);
    await other.client.putList("Theirs", { [listField]: names });
    for (const name of ["nothing", "Theirs", "__proto__"]) {
      const responses = [
        await client.read(`/api/${part}/compare?list=${name}`),
        await client.read(`/api/${part}/${list}?list=${name}`),
        await client.post(`/api/${part}/details`, JSON.parse(`{"list":"${name}"}`)),
      ];
      for (const { status, cost, text } of responses) {
        expect([status, cost]).toEqual([404, null]);
        expect(JSON.parse(text)).toEqual(
          part === "video"
            ? { error: "List Not Found" }
            : { error: "List Not Found", message: `List ${name} not found` },
        );
      }
    }
    expect(await charged()).toBe(0);
  });

  test("200: two accounts with lists of one name get their own, from a warm cache too", async () => {
    const other = await createAccountWithClient(service, 1000);
    await client.putList("Rivals", { [listField]: names.slice(0, 1) });
    await other.client.putList("Rivals", { [listField]: names.slice(1, 3) });
    for (let round = 0; round < 3; round++) {
      for (const [used, size] of [
        [client, 1],
        [other.client, 2],
      ] as const) {
        const page = await used.read(`/api/${part}/${list}?list=Rivals`);
        expect(listIds(page.text)).toHaveLength(size);
        const table = await used.read(`/api/${part}/compare?list=Rivals`);
        expect([table.cost, JSON.parse(table.text).rows[0].values.length]).toEqual([size, size]);
      }
    }
  });

  test("200: a changed list shows at once, also to If-None-Match", async () => {
    const paths = [`/api/${part}/${list}?list=Rivals`, `/api/${part}/compare?list=Rivals`];
    await client.putList("Rivals", { [listField]: names.slice(0, 2) });
    const etags: (string | null)[] = [];
    for (const path of paths) {
      const { response } = await client.read(path);
      const etag = response.headers.get("etag");
      etags.push(etag);
      const again = await client.read(path, { headers: { "if-none-match": etag ?? "" } });
      expect(again.status).toBe(304);
    }
    for (let size = 3; size >= 1; size -= 2) {
      await client.putList("Rivals", { [listField]: names.slice(0, size) });
      for (const [index, path] of paths.entries()) {
        const headers = { "if-none-match": etags[index] ?? "", "accept-encoding": "gzip" };
        const { status, text } = await client.read(path, { headers });
        expect(status).toBe(200);
        expect(JSON.parse(text)[list]).toHaveLength(size);
      }
    }
  });

  test("200: an observation of an entity of the list shows at once", async () => {
    await client.putList("Rivals", { [listField]: ["later"] });
    const path = `/api/${part}/${list}?list=Rivals`;
    const sizes = [listIds((await client.read(path)).text).length];
    const identity =
      part === "video" ? { kind: "channel", id: "later" } : { kind: "user", username: "later" };
    await service.observe({ ...identity, observedAt: "2026-11-20" });
    sizes.push(listIds((await client.read(path)).text).length);
    expect(sizes).toEqual([0, 1]);
  });
});

test("an identifier takes precedence over a username, and a channel is listed once", async () => {
  await client.putList("Rivals", { channels: ["Soup1", "UC1", "soup1", "Twin"] });
  const { text } = await client.read("/api/video/channels?list=Rivals");
  const ids = JSON.parse(text).channels.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(["UC1", "Soup1"]);
});

test("a list of 1,000 names is read as a filter in pages", async () => {
  const usernames = Array.from({ length: 1000 }, (_, index) => `big${index}`);
  await service.observe(
    ...usernames.map((username, index) => ({
      kind: "user",
      observedAt: "2026-11-20",
      username,
      followers_count: index,
    })),
  );
  await client.putList("Big", { users: usernames });
  const { text, cost } = await client.read("/api/microblog/users?list=Big&limit=1000");
  const { users, pagination } = JSON.parse(text);
  expect([cost, users.length, users[0].username, pagination.hasMore]).toEqual([
    1,
    1000,
    "big999",
    false,
  ]);
});
