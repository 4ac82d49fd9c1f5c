/** Imports real observations. Skipped without ../shared/data, which is not part of the project. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSandbox, ROOT } from "./support/processes/command-line.ts";
import { startTestService } from "./support/service.ts";

const DATA_FILES = ["real-video.ndjson", "real-microblog.ndjson"].map((name) =>
  join(ROOT, "../shared/data", name),
);

/** Whether the data exists. Prints a note if it does not. */
function hasRealData(): boolean {
  if (DATA_FILES.every((file) => existsSync(file))) return true;
  process.stderr.write("Skipped the tests with real data: ../shared/data does not exist\n");
  return false;
}

interface RawObservation {
  readonly kind: string;
  readonly observedAt: string;
  readonly channel?: string;
  readonly id?: string;
  readonly title?: string;
  readonly username?: string;
  readonly text?: string;
  readonly publishedAt?: string;
}

async function readLines(file: string | undefined): Promise<RawObservation[]> {
  const text = await Bun.file(file ?? "").text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** The shorts of a channel in the order of the API, by the newest observation of each. */
function listShortIds(lines: readonly RawObservation[], channel: string): string[] {
  const newest = new Map<string, RawObservation>();
  for (const line of lines) {
    if (line.kind === "short" && line.channel === channel) newest.set(line.id ?? "", line);
  }
  return Array.from(newest.values())
    .toSorted(
      (a, b) =>
        Date.parse(b.publishedAt ?? "") - Date.parse(a.publishedAt ?? "") ||
        Buffer.compare(Buffer.from(b.id ?? ""), Buffer.from(a.id ?? "")),
    )
    .map(({ id }) => id ?? "");
}

describe.skipIf(!hasRealData())("real data", () => {
  test("import reads 12,731 lines, rejects none, and finds nothing new the second time", async () => {
    const sandbox = await openSandbox();
    const first = JSON.parse(await sandbox.runOrThrow("import", "--json", ...DATA_FILES));
    expect(first).toMatchObject({ read: 12_731, changed: 0, rejected: 0 });
    const second = JSON.parse(await sandbox.runOrThrow("import", "--json", ...DATA_FILES));
    expect(second).toMatchObject({ read: 12_731, new: 0, changed: 0, rejected: 0 });
    const exported = await sandbox.runOrThrow("export");
    const other = await openSandbox();
    await other.runOrThrow("import", await other.write("out.ndjson", exported));
    expect((await other.runOrThrow("export")) === exported).toBe(true);
    await Promise.all([sandbox.close(), other.close()]);
  }, 60_000);

  test("GET /api/video/{channel}/shorts pages through every short once by Link, also during an import", async () => {
    const service = await startTestService();
    const lines = await readLines(DATA_FILES[0]);
    for (let at = 0; at < lines.length; at += 2000) {
      await service.observe(...lines.slice(at, at + 2000));
    }
    const byChannel = Map.groupBy(
      lines.filter(({ kind }) => kind === "short"),
      ({ channel }) => channel ?? "",
    );
    const [most = ""] = Array.from(byChannel.keys(), (channel) => channel).toSorted(
      (a, b) => listShortIds(lines, b).length - listShortIds(lines, a).length,
    );
    const expected = listShortIds(lines, most);
    const listByPages = async (onPage: (page: number) => Promise<unknown>) => {
      const ids: string[] = [];
      let path: string | undefined = `/api/video/${most}/shorts?limit=9`;
      for (let page = 0; path !== undefined; page++) {
        const response = await service.get(path);
        const body = (await response.json()) as { shorts: { id: string }[] };
        ids.push(...body.shorts.map(({ id }) => id));
        path = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
        await onPage(page);
      }
      return ids;
    };
    expect(await listByPages(async () => undefined)).toEqual(expected);
    const during = await listByPages((page) =>
      service.observe(
        ...expected.slice(0, 20).map((id) => ({
          kind: "short",
          observedAt: new Date(Date.parse("2026-11-01") + page).toISOString(),
          channel: most,
          id,
          views: page,
        })),
        ...[2010, 2018, 2026].map((year) => ({
          kind: "short",
          observedAt: "2026-11-01",
          channel: most,
          id: `added ${page} ${year}`,
          publishedAt: `${year}-0${1 + (page % 9)}-01`,
        })),
      ),
    );
    expect(during.filter((id) => !id.startsWith("added"))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(50);
    await service.close();
  }, 60_000);

  test("line breaks, emoji, right-to-left and decomposed text are stored byte for byte", async () => {
    const service = await startTestService();
    const shorts = (await readLines(DATA_FILES[0])).filter(({ kind }) => kind === "short");
    const tweets = (await readLines(DATA_FILES[1])).filter(({ kind }) => kind === "tweet");
    const channels = new Set(shorts.map(({ channel }) => channel));
    await service.observe(
      ...shorts,
      ...tweets,
      ...Array.from(channels, (id) => ({ kind: "channel", observedAt: "2018-01-01", id })),
    );
    for (const kind of [/\n/, /\p{Emoji_Presentation}/u, /[\u0300-\u036f]/]) {
      const some = shorts.find(({ title }) => kind.test(title ?? ""));
      const newest = shorts.findLast(({ id, title }) => id === some?.id && title !== undefined);
      const path = `/api/video/${newest?.channel}/short/${newest?.id}`;
      expect(await (await service.get(path)).json()).toMatchObject({ title: newest?.title });
    }
    for (const kind of [/\n/, /\p{Emoji_Presentation}/u, /[\u0590-\u06ff]/]) {
      const some = tweets.find(({ text }) => kind.test(text ?? ""));
      const newest = tweets.findLast(({ id, text }) => id === some?.id && text !== undefined);
      const path = `/api/microblog/${newest?.username}/tweet/${newest?.id}`;
      const body: unknown = await (await service.get(path)).json();
      expect(body).toMatchObject({ tweet: { id: newest?.id, text: newest?.text } });
    }
    await service.close();
  }, 60_000);
});
