import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
const toIso = (ms: number) => new Date(ms).toISOString();
const makeShort = (id: string, publishedAt: number, observedAt = NOW) => ({
  kind: "short",
  observedAt: toIso(observedAt),
  channel: "c",
  id,
  publishedAt: toIso(publishedAt),
});
/** 45 shorts, three at each instant, so that pages end within ties. */
const SHORTS = Array.from({ length: 45 }, (_, index) =>
  makeShort(`s${String(index).padStart(2, "0")}`, NOW - Math.floor(index / 3) * 60_000),
);
const ORDERED_IDS = SHORTS.toSorted(
  (a, b) => Date.parse(b.publishedAt) - Date.parse(a.publishedAt) || (a.id < b.id ? 1 : -1),
).map(({ id }) => id);

interface Page {
  readonly channel: string;
  readonly shorts: { readonly id: string }[];
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string | null };
}

async function fetchPage(
  path: string,
): Promise<{ ids: string[]; page: Page; link: string | null }> {
  const response = await service.get(path);
  expect(response.status).toBe(200);
  const page = (await response.json()) as Page;
  return { ids: page.shorts.map(({ id }) => id), page, link: response.headers.get("link") };
}

const parseNextTarget = (link: string | null) => /^<(.*)>; rel="next"$/.exec(link ?? "")?.[1];

beforeAll(async () => {
  service = await startTestService();
  await service.observe({ kind: "channel", observedAt: toIso(NOW), id: "c" }, ...SHORTS);
});
afterAll(() => service.close());

describe("GET /api/video/{channel}/shorts", () => {
  test("200: 20 shorts by default, newest first, ties by the greater identifier", async () => {
    const { ids, page } = await fetchPage("/api/video/c/shorts");
    expect(ids).toEqual(ORDERED_IDS.slice(0, 20));
    expect([page.channel, page.pagination.hasMore]).toEqual(["c", true]);
  });

  test.each([[1], [7], [44], [45], [100]])("200: pages of %d partition the list", async (limit) => {
    const seenIds: string[] = [];
    let path: string | undefined = `/api/video/c/shorts?limit=${limit}&_note=a%26b`;
    while (path !== undefined) {
      const { ids, page, link } = await fetchPage(path);
      seenIds.push(...ids);
      expect(page.pagination.hasMore).toBe(page.pagination.nextCursor !== null);
      expect(link !== null).toBe(page.pagination.hasMore);
      path = parseNextTarget(link);
      if (path !== undefined) expect(path).toContain(`limit=${limit}&_note=a%26b&cursor=`);
    }
    expect(seenIds).toEqual(ORDERED_IDS);
  });

  test("200: paging skips and repeats nothing while shorts are added and observed again", async () => {
    const ownService = await startTestService();
    await ownService.observe({ kind: "channel", observedAt: toIso(NOW), id: "c" }, ...SHORTS);
    const seenIds: string[] = [];
    let path: string | undefined = "/api/video/c/shorts?limit=4";
    for (let round = 0; path !== undefined; round++) {
      const response = await ownService.get(path);
      const page = (await response.json()) as Page;
      seenIds.push(...page.shorts.map(({ id }) => id).filter((id) => id.startsWith("s")));
      path = parseNextTarget(response.headers.get("link"));
      await ownService.observe(
        makeShort(`new${round}`, NOW + round),
        makeShort(`old${round}`, NOW - round * 61_000),
        ...SHORTS.slice(0, 9).map(({ id, publishedAt }) =>
          makeShort(id, Date.parse(publishedAt), NOW + 1 + round),
        ),
      );
    }
    expect(seenIds).toEqual(ORDERED_IDS);
    await ownService.close();
  });

  test("200: Link has one cursor, even if the request percent-encodes the name cursor", async () => {
    const first = await fetchPage("/api/video/c/shorts?limit=2");
    const { nextCursor } = first.page.pagination;
    const next = await fetchPage(`/api/video/c/shorts?c%75rsor=${nextCursor}&limit=2`);
    expect(next.ids).toEqual(ORDERED_IDS.slice(2, 4));
    expect((await fetchPage(parseNextTarget(next.link) ?? "")).ids).toEqual(
      ORDERED_IDS.slice(4, 6),
    );
  });

  test("200: before is exclusive and combines with cursor", async () => {
    const before = toIso(NOW - 60_000);
    const first = await fetchPage(`/api/video/c/shorts?limit=2&before=${before}`);
    expect(first.ids).toEqual(ORDERED_IDS.slice(6, 8));
    const next = await fetchPage(parseNextTarget(first.link) ?? "");
    expect(next.ids).toEqual(ORDERED_IDS.slice(8, 10));
    expect((await fetchPage("/api/video/c/shorts?before=2026-11-20")).ids).toEqual([]);
  });

  test.each([
    ["limit=0"],
    ["limit=101"],
    ["limit=1e1"],
    ["limit=0x5"],
    ["limit=%2B3"],
    ["limit=%203"],
    ["limit=3.0"],
    ["limit=03"],
    ["limit="],
    ["limit=3&limit=3"],
    ["before=yesterday"],
    ["before=2024-02-30"],
    ["before=2024-02-01T24:00"],
    ["before="],
    ["cursor=x"],
    ["cursor="],
    ["cursor=0-0"],
  ])("400: %s gets its name and what is allowed, free of charge", async (query) => {
    const response = await service.get(`/api/video/c/shorts?${query}`);
    const name = query.slice(0, query.indexOf("="));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: expect.stringMatching(new RegExp(`^Invalid Request: ${name} must be .*, got `)),
    });
    expect(response.headers.has("x-credits-remaining")).toBe(false);
  });

  test("200: a short that was observed before its channel is served once the channel is observed", async () => {
    await service.observe({ ...makeShort("early", NOW), channel: "late" });
    expect((await service.get("/api/video/late/shorts")).status).toBe(404);
    await service.observe({
      kind: "channel",
      observedAt: toIso(NOW),
      id: "late",
      username: "Late",
    });
    const { ids, page } = await fetchPage("/api/video/late/shorts");
    expect([page.channel, ids]).toEqual(["Late", ["early"]]);
  });
});
