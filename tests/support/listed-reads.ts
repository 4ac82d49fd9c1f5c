/** Saved lists in tests: channels and users, and a client of one key that saves and reads lists. */
import { expect } from "bun:test";
import type { TestService } from "./service.ts";

/** Channels that a test observes. */
export const CHANNELS = Array.from({ length: 12 }, (_, index) => ({
  kind: "channel",
  observedAt: "2026-11-20",
  id: `UC${index}`,
  username: `Soup${index}`,
  country: index % 2 === 0 ? "IE" : "DE",
  subscribers: index,
}));

/** Users with the names of the channels. */
export const USERS = CHANNELS.map(({ username, subscribers: followers_count, observedAt }) => ({
  kind: "user",
  observedAt,
  username,
  followers_count,
}));

/** Sends requests with one key. */
export type ListClient = ReturnType<typeof createListClient>;

const JSON_TYPE = { "content-type": "application/json" };

/** Creates an account with credits, and a client that uses its key. */
export async function createAccountWithClient(service: TestService, credits: number) {
  const access = await service.createAccountWithKey(credits);
  return { ...access, client: createListClient(service, access.key) };
}

/** Creates a client that sends requests with a key, and checks each response. */
export function createListClient(service: TestService, key: string) {
  async function read(path: string, init: RequestInit = {}) {
    const response = await service.get(path, key, init);
    const text = await response.text();
    const cost = response.headers.get("x-credits-cost");
    return { status: response.status, cost: cost === null ? null : Number(cost), text, response };
  }
  return {
    /** Reads the status, the cost and the text of a response. */
    read,

    /** Posts JSON. */
    post: (path: string, body: object, headers: object = {}) =>
      read(path, {
        method: "POST",
        headers: { ...JSON_TYPE, ...headers },
        body: JSON.stringify(body),
      }),

    /** Creates or replaces a list. */
    async putList(name: string, names: object): Promise<void> {
      const path = `/api/lists/${encodeURIComponent(name)}`;
      const body = JSON.stringify(names);
      const { status } = await read(path, { method: "PUT", headers: JSON_TYPE, body });
      expect([200, 201]).toContain(status);
    },
  };
}

/** The interfaces that take a list, with names of their entities. */
export const INTERFACES = [
  {
    part: "video",
    field: "channels",
    listField: "channels",
    names: ["UC3", "soup2", "UC1", "nobody"],
    list: "channels",
    getId: (entity: { id: string }) => entity.id,
    expected: ["UC3", "UC2", "UC1"],
  },
  {
    part: "microblog",
    field: "usernames",
    listField: "users",
    names: ["Soup3", "SOUP2", "soup1", "nobody"],
    list: "users",
    getId: (entity: { username: string }) => entity.username,
    expected: ["Soup3", "Soup2", "Soup1"],
  },
] as const;
