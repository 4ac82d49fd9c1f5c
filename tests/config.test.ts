import { describe, expect, test } from "bun:test";
import { ConfigError, readConfig } from "../server/config.ts";

/** What is said of settings that are not allowed; nothing where they are. */
function readConfigError(environment: Readonly<Record<string, string>>): string | undefined {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return undefined;
}

const SECRETS = [
  "DATABASE_AUTH_TOKEN",
  "ADMIN_TOKEN",
  "METRICS_TOKEN",
  "WEBHOOK_SECRET",
  "YOUTUBE_API_KEY",
  "X_BEARER_TOKEN",
];

describe("readConfig()", () => {
  test("treats an empty setting as not set", () => {
    const names = [...SECRETS, "PORT", "HOST", "DATABASE_URL", "DURABILITY", "RATE_LIMIT"];
    const others = ["LOG_LEVEL", "CORS_ORIGINS", "RETENTION", "COLLECT", "MICROBLOG_SOURCE"];
    const empty = Object.fromEntries([...names, ...others].map((name) => [name, ""]));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });

  test("returns the settings", () => {
    const config = readConfig({
      PORT: "0",
      DURABILITY: "process",
      RATE_LIMIT: "60",
      CORS_ORIGINS: "https://a.example,  http://b.example:8080 ",
      COLLECT: "off",
      DERIVED_METRICS: "microblog",
      RETENTION: "tweet=90d",
    });
    expect(config).toMatchObject({
      port: 0,
      durability: "process",
      rateLimit: 60,
      corsOrigins: ["https://a.example", "http://b.example:8080"],
      collect: "off",
      derivedMetrics: ["microblog"],
      retention: { tweet: { rawDays: 90, dailyDays: 90 } },
    });
  });

  test.each([
    ["PORT", "65535", "65536"],
    ["PORT", "0", "080"],
    ["METRICS_PORT", "9090", "-1"],
    ["HOST", "::1", "a b"],
    ["DATABASE_URL", "file:./data/metrics.db", "file://host/metrics.db"],
    ["DATABASE_URL", "file:///data/metrics.db", "file:metrics.db?mode=ro"],
    ["DATABASE_URL", "file:a%3Fb.db", "file:a%00b.db"],
    ["DATABASE_URL", "file:a b.db", "file:a.db "],
    ["DATABASE_URL", "libsql://db.example", "postgres://db.example"],
    ["DURABILITY", "power", "none"],
    ["PICTURES", "off", "yes"],
    ["RATE_LIMIT", "1", "0"],
    ["RATE_LIMIT", "1000000", "1000001"],
    ["LOG_LEVEL", "warning", "warn"],
    ["CORS_ORIGINS", "*", "null"],
    ["CORS_ORIGINS", "https://a.example", "https://a.example/"],
    ["DERIVED_METRICS", "none", "none,video"],
    ["DERIVED_METRICS", "microblog", "x"],
    ["DERIVED_METRICS", "microblog, video", "video,"],
    ["RETENTION", "tweet=40d", "tweet=39d"],
    ["JOURNAL_DAYS", "2", "1"],
    ["COLLECT", "off", "no"],
    ["BACKUP_SCHEDULE", "0 3 * * *", "0 25 * * *"],
    ["BACKUP_SCHEDULE", "*/10 * * * * *", "* * * *"],
    ["BACKUP_SCHEDULE", "CRON_TZ=Europe/Berlin 0 3 * * SUN", "CRON_TZ=Mars/Olympus 0 3 * * *"],
    ["BACKUP_SCHEDULE", "0 0 29 2 *", "0 0 31 2 *"],
    ["BACKUP_SCHEDULE", "0 0 L * *", "@daily"],
    ["YOUTUBE_API_URL", "http://127.0.0.1:1", "ftp://127.0.0.1"],
    ["MICROBLOG_SOURCE", "bluesky", "mastodon"],
  ])("%s may be %s, and not %s, which is named", (name, allowed, refused) => {
    expect(readConfigError({ [name]: allowed })).toBeUndefined();
    expect(readConfigError({ [name]: refused })).toStartWith(`${name} must be `);
    expect(readConfigError({ [name]: refused })).toEndWith(`, got ${JSON.stringify(refused)}`);
  });

  test("accepts a WEBHOOK_SECRET of 24 to 64 bytes, and WEBHOOK_URL only with one", () => {
    const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
    for (const bytes of [24, 32, 64]) {
      const config = readConfig({ WEBHOOK_SECRET: secretOf(bytes) });
      expect(config.webhookSecret).toEqual(Buffer.alloc(bytes, 7));
    }
    const refused = [secretOf(23), secretOf(65), secretOf(32).slice(6), `${secretOf(32)}=`];
    for (const WEBHOOK_SECRET of [...refused, secretOf(25).slice(0, -2)]) {
      const fault = readConfigError({ WEBHOOK_SECRET });
      expect(fault).toStartWith("WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in Base64");
      expect(fault).toEndWith(", got something else");
    }
    const WEBHOOK_URL = "https://shop.example/notices";
    expect(readConfigError({ WEBHOOK_URL })).toBe("WEBHOOK_URL is set, which needs WEBHOOK_SECRET");
    expect(readConfigError({ WEBHOOK_URL, WEBHOOK_SECRET: secretOf(24) })).toBeUndefined();
    expect(readConfigError({ WEBHOOK_URL: "shop.example" })).toContain("an http or https URL");
  });

  test("refuses a METRICS_PORT that is PORT, unless both select a free one", () => {
    const fault = "METRICS_PORT must be another port than PORT";
    expect(readConfigError({ METRICS_PORT: "3000" })).toBe(fault);
    expect(readConfigError({ METRICS_PORT: "3001" })).toBeUndefined();
    expect(readConfigError({ PORT: "0", METRICS_PORT: "0" })).toBeUndefined();
  });

  test("accepts an ADMIN_TOKEN of 16 characters or more, at least 8 of them different", () => {
    for (const allowed of ["0123456789abcdef", "abcdefghabcdefgh", "f3".repeat(8) + "0a1b2c4d"]) {
      expect(readConfigError({ ADMIN_TOKEN: allowed })).toBeUndefined();
    }
    for (const refused of [
      "0123456789abcde",
      "a".repeat(16),
      "ab".repeat(32),
      "abcdefg".repeat(3),
    ]) {
      const fault = readConfigError({ ADMIN_TOKEN: refused });
      expect(fault).toStartWith("ADMIN_TOKEN must be 16 or more visible characters");
      expect(fault).toContain("openssl rand -hex 32");
      expect(fault).not.toContain(refused);
    }
  });

  test("accepts a COMMITTER_ADDRESS of a host and a port, with a libSQL server only", () => {
    const DATABASE_URL = "http://localhost:8080";
    for (const allowed of ["10.0.0.5:3100", "a-host.example:65535", "[::1]:1"]) {
      expect(readConfigError({ DATABASE_URL, COMMITTER_ADDRESS: allowed })).toBeUndefined();
    }
    const faults = ["3100", "host", "host:0", "host:65536", "http://host:1", "::1:3100"];
    // No other process could connect there.
    for (const refused of [...faults, "10.0.0.300:3100"]) {
      expect(readConfigError({ DATABASE_URL, COMMITTER_ADDRESS: refused })).toStartWith(
        "COMMITTER_ADDRESS must be HOST:PORT",
      );
    }
    expect(readConfigError({ COMMITTER_ADDRESS: "10.0.0.5:3100" })).toBe(
      "COMMITTER_ADDRESS is set, which needs a libSQL server in DATABASE_URL",
    );
  });

  test.each([
    ["YOUTUBE_API_KEY", 8],
    ["X_BEARER_TOKEN", 8],
  ])("%s has %d characters or more", (name, least) => {
    expect(readConfigError({ [name]: "s".repeat(least) })).toBeUndefined();
    expect(readConfigError({ [name]: "s".repeat(least - 1) })).toStartWith(`${name} must be `);
  });

  test.each(SECRETS)("never shows a wrong value of %s", (name) => {
    const fault = readConfigError({ [name]: "a s3cret" });
    expect(fault).toStartWith(`${name} must be `);
    expect(fault).toEndWith(", got something else");
  });

  test("a second database and a replica need a libSQL server, and the database is another one", () => {
    const [server, other] = ["http://db.example:8080", "libsql://entities.db.example:8080"];
    expect(readConfigError({ DATABASE_URL: server, ENTITIES_URL: other })).toBeUndefined();
    expect(
      readConfigError({ DATABASE_URL: server, DATABASE_REPLICA: "file:r.db" }),
    ).toBeUndefined();
    for (const [name, value] of [
      ["ENTITIES_URL", other],
      ["DATABASE_REPLICA", "file:r.db"],
    ] as const) {
      const fault = `${name} is set, which needs a libSQL server in DATABASE_URL`;
      expect(readConfigError({ [name]: value })).toBe(fault);
    }
    const same = "ws://db.example:8080?authToken=t";
    const fault = "ENTITIES_URL must be another database than DATABASE_URL";
    expect(readConfigError({ DATABASE_URL: server, ENTITIES_URL: same })).toBe(fault);
    expect(readConfigError({ ENTITIES_URL: "file:e.db" })).toStartWith(
      "ENTITIES_URL must be libsql",
    );
  });

  test.each([
    ["0 3 * * *", "2026-03-28T03:00:00Z", "2026-03-29T03:00:00Z"],
    ["CRON_TZ=Europe/Berlin 0 3 * * *", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z"],
    ["CRON_TZ=Asia/Kolkata 30 0 1 * *", "2026-11-30T19:00:00Z", "2026-12-31T19:00:00Z"],
  ])("BACKUP_SCHEDULE=%s is due after %s at %s", (text, after, due) => {
    const next = readConfig({ BACKUP_SCHEDULE: text }).backupSchedule?.next(Date.parse(after));
    expect(next).toBe(Date.parse(due));
  });

  test("names each wrong setting, and one that needs another", () => {
    const faults =
      readConfigError({ PORT: "x", COLLECT: "y", MICROBLOG_SOURCE: "x" })?.split("\n") ?? [];
    expect(faults.map((fault) => fault.split(" ")[0])).toEqual([
      "PORT",
      "COLLECT",
      "MICROBLOG_SOURCE",
    ]);
    expect(
      readConfigError({ MICROBLOG_SOURCE: "x", X_BEARER_TOKEN: "s3cret-of-x" }),
    ).toBeUndefined();
  });
});
