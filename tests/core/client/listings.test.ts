/** How the client goes from page to page, whatever the pages say. */
import { describe, expect, test } from "bun:test";
import { createClient } from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";

/** A client that gets these pages, one after the other; the last one again and again. */
function createTestClient(...pages: readonly object[]) {
  let requests = 0;
  const client = createClient({
    baseUrl: "http://127.0.0.1:1",
    apiKey: "cm_1",
    fetch: async () => new Response(JSON.stringify(pages[requests++] ?? pages.at(-1))),
  });
  return { ...client, countRequests: () => requests };
}

const createPage = (nextCursor: string | null, ...ids: readonly string[]) => ({
  channels: ids.map((id) => ({ id })),
  pagination: { hasMore: nextCursor !== null, nextCursor },
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("a listing", () => {
  test("goes on after short and empty pages, as long as they have a cursor", async () => {
    const { video, countRequests } = createTestClient(
      createPage("a", "1", "2"),
      createPage("b"),
      createPage("c"),
      createPage("d", "3"),
      createPage(null),
    );
    const ids = (await collect(video.channels({ limit: 2 }))).map(({ id }) => id);
    expect(ids).toEqual(["1", "2", "3"]);
    expect(countRequests()).toBe(5);
  });

  test.each([1, 2, 3])("ends at a circle of %d cursors with an error", async (length) => {
    const cursors = ["a", "b", "c"].slice(0, length);
    const pages = [...cursors, "a"].map((cursor) => createPage(cursor, cursor));
    const { video, countRequests } = createTestClient(...pages, ...pages, createPage(null));
    const ids: string[] = [];
    const error = await catchError(async () => {
      for await (const { id } of video.channels()) ids.push(id);
    });
    expect(error).toMatchObject({
      name: "ConnectionError",
      message: "The list returns to its page at a",
    });
    expect(ids).toEqual([...cursors, "a"]);
    expect(countRequests()).toBe(length + 1);
  });

  test("ends at pages that all have one number", async () => {
    const page = {
      tweets: { t1: { created_at: "2026-11-20T00:00:00.000Z" } },
      pagination: { page: 0, limit: 1, total: 9, page_count: 9, has_more: true },
    };
    const { microblog, countRequests } = createTestClient(page);
    const error = await catchError(() => collect(microblog.tweets("nasa")));
    expect(error).toMatchObject({ name: "ConnectionError" });
    expect(countRequests()).toBe(2);
  });
});

test("tweets() lists tweets by created_at, then identifier, newest first, also small numbers", async () => {
  const at = (second: number) => ({ created_at: `2026-11-20T08:15:0${second}.000Z` });
  const { microblog } = createTestClient({
    tweets: {
      "7": at(3),
      "12": at(5),
      "9": at(3),
      "10": at(3),
      x: at(4),
      "2000000000000000000": at(1),
    },
    pagination: { page: 0, limit: 9, total: 6, page_count: 1, has_more: false },
  });
  const ids = (await collect(microblog.tweets("nasa"))).map(([id]) => id);
  expect(ids).toEqual(["12", "x", "9", "7", "10", "2000000000000000000"]);
});
