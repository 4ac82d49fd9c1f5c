/** The limits of a diagnosis: from where on something is a hint or a problem. */
import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import type { Finding } from "../../../server/commands/doctor/diagnosis.ts";
import { formatReports } from "../../../server/commands/doctor/doctor.ts";
import {
  judgeBackups,
  judgeDescriptors,
  judgeDisk,
  judgeFiles,
  judgeFolder,
  judgeNotices,
  judgeServerClock,
  judgeStoredInstants,
} from "../../../server/process/doctor/judgements.ts";
import { parseSchedule } from "../../../server/settings.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const NIGHT = Date.parse("2026-11-20T03:00:00Z");

const list = (findings: readonly Finding[]) =>
  findings.map(({ severity, message }) => `${severity}: ${message}`);

describe("judgeStoredInstants()", () => {
  test.each([
    [5 * MINUTE_MS, []],
    [
      HOUR_MS,
      [
        "problem: The newest entry of the database, 2026-11-20T13:00:00.000Z, is 60 minutes ahead " +
          "of the clock, 2026-11-20T12:00:00.000Z",
      ],
    ],
  ])("judges an entry that is %p ms ahead", (lead, expected) => {
    const stored = { newestEntryAt: 0, newestObservedAt: NOW + lead };
    expect(list(judgeStoredInstants(stored, NOW))).toEqual(expected);
  });
});

describe("judgeServerClock()", () => {
  test.each([
    [MINUTE_MS, []],
    [-MINUTE_MS, []],
    [HOUR_MS, ["problem: The clock is 60 minutes ahead of that of the database server"]],
    [-3 * HOUR_MS, ["problem: The clock is 3 hours behind that of the database server"]],
  ])("judges a difference of %p ms", (difference, expected) => {
    expect(list(judgeServerClock(NOW - difference, NOW))).toEqual(expected);
  });
});

describe("judgeDescriptors()", () => {
  test.each([
    [1024, undefined, []],
    [
      1023,
      undefined,
      ["problem: A process may have 1023 file descriptors, too few for its connections"],
    ],
    [1000, 801, ["problem: The service uses 801 of 1000 file descriptors"]],
    [10_000, 8000, []],
    [Number.POSITIVE_INFINITY, 9, []],
  ])("judges a limit of %p, of which %p are used", (limit, used, expected) => {
    expect(list(judgeDescriptors({ limit, used }))).toEqual(expected);
  });
});

describe("judgeDisk()", () => {
  test.each([
    [63_999_999, 0, ["problem: The disk of /data has only 64.0 MB left"]],
    [64_000_000, 0, []],
    [
      100_000_000,
      10_000_000,
      ["hint: The disk of /data is full in 10 days, as the database grows"],
    ],
    [
      100_000_000,
      20_000_000,
      ["problem: The disk of /data is full in 5 days, as the database grows"],
    ],
    [310_000_000, 10_000_000, []],
  ])("judges %p free bytes and a growth of %p bytes a day", (freeBytes, bytesPerDay, expected) => {
    expect(list(judgeDisk({ folder: "/data", freeBytes, bytesPerDay }))).toEqual(expected);
  });
});

describe("judgeNotices()", () => {
  const none = { pending: 0, failed: 0, oldestPendingAt: null, lastFailure: null };
  const waiting = { ...none, pending: 2, oldestPendingAt: NOW - 3 * HOUR_MS };

  test.each([
    [none, 3, true, []],
    [none, 0, false, []],
    [none, 1, false, ["hint: 1 account has a threshold of low balance, and no notice is sent"]],
    [
      waiting,
      1,
      false,
      ["problem: 1 account has a threshold of low balance, and no notice is sent: 2 wait"],
    ],
    [{ ...waiting, oldestPendingAt: NOW - HOUR_MS }, 1, true, []],
    [
      { ...waiting, lastFailure: "it was refused" },
      1,
      true,
      [
        "problem: 2 notices about low balances could not be delivered yet, the oldest for 3 hours: " +
          "it was refused",
      ],
    ],
    [
      { ...none, failed: 4 },
      1,
      true,
      ["problem: 4 notices about low balances could not be delivered"],
    ],
  ])("judges %j of %p accounts, receiver: %p", (notices, thresholds, hasReceiver, expected) => {
    const findings = judgeNotices({ notices, thresholds }, { now: NOW, hasReceiver });
    expect(list(findings)).toEqual(expected);
  });
});

describe("judgeBackups()", () => {
  const judge = (facts: Partial<Parameters<typeof judgeBackups>[0]>) =>
    list(
      judgeBackups({
        schedule: parseSchedule("0 3 * * *"),
        newestAt: undefined,
        failure: undefined,
        folder: "/b",
        now: NIGHT,
        ...facts,
      }),
    );

  test("allows an hour after the time of a scheduled backup", () => {
    const newestAt = NIGHT - DAY_MS;
    expect(judge({ newestAt, now: NIGHT + HOUR_MS })).toEqual([]);
    expect(judge({ newestAt, now: NIGHT + HOUR_MS + 1 })).toEqual([
      "problem: The newest scheduled backup in /b is 25 hours old; one was due at " +
        "2026-11-20T03:00:00.000Z",
    ]);
    expect(judge({ newestAt: NIGHT })).toEqual([]);
    expect(judge({ newestAt: NIGHT - 1000, failure: "no space" })).toEqual([
      "problem: The last scheduled backup failed: no space",
    ]);
  });

  test("without a schedule, allows backups by hand of two days", () => {
    const byHand = { schedule: undefined };
    expect(judge({ ...byHand, newestAt: NIGHT - 2 * DAY_MS })).toEqual([]);
    expect(judge({ ...byHand, newestAt: NIGHT - 5 * DAY_MS })).toEqual([
      "problem: The newest backup in /b is 5 days old",
    ]);
    expect(judge(byHand)).toEqual(["hint: There is no backup in /b, and none is scheduled"]);
  });
});

describe("judgeFiles()", () => {
  test("names the files that others may use, and those of other users", () => {
    const files = [
      { path: "a", uid: 5, mode: 0o100600 },
      { path: "b", uid: 5, mode: 0o100640 },
      { path: "c", uid: 0, mode: 0o100604 },
    ];
    expect(judgeFiles(files, 5)).toEqual([
      {
        severity: "problem",
        message: "Other users may use b (mode 0640), c (mode 0604)",
        action: "chmod 600 b c",
      },
      {
        severity: "problem",
        message: "The service runs as user 5, and these files are of another one: c (user 0)",
        action: "as root: chown 5 c",
      },
    ]);
  });
});

describe("judgeFolder()", () => {
  test.each([
    [0o40777, ["problem: Other users may replace the files in /data"]],
    [0o41777, []],
    [0o40755, []],
  ])("judges the mode %p", (mode, expected) => {
    expect(list(judgeFolder({ path: "/data", uid: 0, mode }))).toEqual(expected);
  });
});

describe("formatReports()", () => {
  const finding = (severity: "problem" | "hint", message: string) => ({
    severity,
    message,
    action: "look at it, and then do what there is to be done about it",
  });
  const reports = [
    {
      check: "disk",
      facts: { "on the disk": "some text that is too long for one line" },
      findings: [],
    },
    {
      check: "clock",
      facts: {},
      findings: [finding("hint", "a"), finding("problem", "b\u001B[2J")],
    },
  ];

  test("aligns facts and findings in the width of the terminal, the problems first", () => {
    expect(formatReports(reports, { columns: 40, hasOutColors: false })).toBe(
      [
        "disk   on the disk  some text that is",
        "                    too long for one",
        "                    line",
        "clock               could not be checked",
        "",
        "Problems",
        " 1. clock: b\\u001b[2J",
        "    -> look at it, and then do what",
        "       there is to be done about it",
        "",
        "Hints",
        " 1. clock: a",
        "    -> look at it, and then do what",
        "       there is to be done about it",
        "",
      ].join("\n"),
    );
  });

  test("is as wide in a pipe as in a terminal of 80 columns, and at most 100 wide", () => {
    const text = [{ check: "a", facts: { b: "word ".repeat(50) }, findings: [] }];
    const widthOf = (columns: number | undefined) =>
      Math.max(
        ...formatReports(text, { columns, hasOutColors: false })
          .split("\n")
          .map(({ length }) => length),
      );
    expect([widthOf(undefined), widthOf(80), widthOf(120)]).toEqual([80, 80, 100]);
  });
});
