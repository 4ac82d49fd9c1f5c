import { expect, test } from "bun:test";

/** Zones with unusual offsets, and their offset from UTC in 1970. */
const ZONES: [zone: string, offsetMinutes: number][] = [
  ["Asia/Kolkata", -330],
  ["America/St_Johns", 210],
  ["Pacific/Apia", 660],
];

const FILES = [
  "time",
  "time-ago",
  "zones",
  "zone-buckets",
  "pagination",
  "observations",
  "entities",
  "retention",
].map((name) => `tests/core/${name}.test.ts`);

test.concurrent.each(ZONES)(
  "the tests of instants pass in a process whose zone is %s",
  async (zone, offset) => {
    const child = Bun.spawn(
      [process.execPath, "test", "--preload", "./tests/support/time-zone-preload.ts", ...FILES],
      {
        cwd: `${import.meta.dir}/../..`,
        env: { ...process.env, TZ: zone, ZONE_OFFSET_MINUTES: String(offset) },
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    const lines = (await new Response(child.stderr).text()).split("\n");
    expect(lines.filter((line) => /^\(fail\)|^error:/.test(line))).toEqual([]);
    expect(await child.exited).toBe(0);
    expect(lines).toContain(`in the zone of ${offset} minutes`);
    expect(lines.filter((line) => line.startsWith("tests/core/")).length).toBe(FILES.length);
  },
  60_000,
);
