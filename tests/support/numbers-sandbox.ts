/** Opens a sandbox with a channel, a user and their items, observed until yesterday. */
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { openSandbox, type Sandbox } from "./processes/command-line.ts";

/** Each observation is at noon of a day in UTC, the newest one yesterday. */
export async function openNumbersSandbox(): Promise<Sandbox & { readonly today: number }> {
  const sandbox = await openSandbox();
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  // Nothing was observed five days ago.
  const days = Array.from({ length: 40 }, (_, index) => index + 1).filter((day) => day !== 5);
  const at = (day: number) => formatInstant(today - day * DAY_MS + 12 * HOUR_MS);
  const lines = [
    ...days.flatMap((day) => [
      {
        kind: "channel",
        observedAt: at(day),
        id: "CH1",
        username: "soup",
        displayName: "Soup \u202e\u001b[31m",
        country: "IE",
        subscribers: 10_000 - 10 * day,
        viewCount: 2_000_000 - 1000 * day,
      },
      { kind: "user", observedAt: at(day), username: "Poet", followers_count: 500 + day },
    ]),
    { kind: "channel", observedAt: at(1), id: "CH2", username: "poet", subscribers: 7 },
    { kind: "short", observedAt: at(2), channel: "CH1", id: "s1", views: 1000, likes: 5 },
    {
      kind: "short",
      observedAt: at(1),
      channel: "CH1",
      id: "s1",
      title: "Leek\n\u001b[2Jsoup",
      publishedAt: at(3),
      views: 1500,
      likes: 6,
    },
    { kind: "tweet", observedAt: at(1), username: "poet", id: "1", created_at: at(20), likes: 1 },
  ];
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  await sandbox.runOrThrow("import", await sandbox.write("in.ndjson", text));
  return { ...sandbox, today };
}
