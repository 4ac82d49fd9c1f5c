import { expect, test } from "bun:test";
import { treaty } from "@elysiajs/eden";
import type {
  ChannelBatch,
  ChannelDetails,
  FollowersPage,
  ShortsPage,
  UserComparison,
} from "../../../core/resources/mod.ts";
import { startTestService } from "../../support/service.ts";

/** Compiles only if the type of the argument is exactly `Expected` or null. */
const expectType = <Expected>(data: Expected | null): Expected | null => data;

test("createApp() gives Eden the response types of charged reads", async () => {
  const { service, key, observe, close } = await startTestService();
  await observe({ kind: "channel", observedAt: "2026-11-20", id: "c" });
  const { api } = treaty(service.app, { headers: { "x-api-key": key } });
  const details = await api.video({ channel: "c" }).details.get();
  expect(expectType<ChannelDetails>(details.data)?.id).toBe("c");
  const shorts = await api.video({ channel: "c" }).shorts.get();
  expect(expectType<ShortsPage>(shorts.data)?.shorts).toEqual([]);
  const followers = await api.microblog({ username: "nobody" }).followers.get();
  expect([followers.status, expectType<FollowersPage>(followers.data)]).toEqual([404, null]);
  const batch = await api.video.details.post({ channels: ["c", "nobody"] });
  const results = expectType<ChannelBatch>(batch.data)?.results ?? [];
  expect(results.map((result) => (result.found ? result.details.id : result.error.error))).toEqual([
    "c",
    "Channel nobody not found",
  ]);
  const query = { usernames: "nobody" };
  const comparison = await api.microblog.compare.get({ query });
  expect(expectType<UserComparison>(comparison.data)?.rows).toEqual([]);
  await close();
});
