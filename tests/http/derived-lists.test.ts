/** Lists where the operator turned derived figures off. */
import { expect, test } from "bun:test";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { NOW, startTestService } from "../support/service.ts";

const at = (ms: number) => formatInstant(NOW - ms);

test("200, 400: without derived figures they are null in rows, and no list is sorted by one", async () => {
  const other = await startTestService({ DERIVED_METRICS: "microblog" });
  await other.observe(
    { kind: "channel", id: "UC1", observedAt: at(DAY_MS), subscribers: 4 },
    { kind: "channel", id: "UC1", observedAt: at(0), subscribers: 5 },
    ...[2, 0].map((hours) => ({
      kind: "short",
      id: "a",
      channel: "UC1",
      publishedAt: at(DAY_MS),
      observedAt: at(hours * HOUR_MS),
      views: 9 - hours,
    })),
    { kind: "user", username: "Nasa", observedAt: at(DAY_MS), followers_count: 4 },
    { kind: "user", username: "Nasa", observedAt: at(0), followers_count: 5 },
  );
  await other.refreshFigures();
  const read = async (path: string) => Object(await (await other.get(path)).json());
  const shorts = await read("/api/video/shorts?fields=views,viewsPerHour,ageHours,trend");
  expect(shorts.shorts).toEqual([
    {
      id: "a",
      views: 9,
      viewsPerHour: null,
      ageHours: 24,
      trend: [{ day: "2026-11-20", value: 9 }],
    },
  ]);
  const channels = "/api/video/channels?fields=dailySubscriberGain,dailySubscriberGainPercent";
  expect((await read(channels)).channels).toEqual([
    { id: "UC1", dailySubscriberGain: 1, dailySubscriberGainPercent: null },
  ]);
  for (const path of [
    "/api/video/shorts?sort=ageMultiple",
    "/api/video/channels?sort=dailySubscriberGainPercent",
  ]) {
    expect((await other.get(path)).status).toBe(400);
  }
  const users = await read("/api/microblog/users?sort=dailyFollowerGainPercent");
  expect(users.users).toMatchObject([{ dailyFollowerGainPercent: 25 }]);
  await other.close();
});
