/**
 * Compares what the dashboard's home and pages of items across creators cost with pages of the plain
 * list of channels, in CPU time of the service. No response is cached.
 */
import { Database } from "bun:sqlite";
import { encodeListCursor, type ListPosition } from "../../../core/lists.ts";
import { formatInstant } from "../../../core/time.ts";
import { atMost, type BenchContext } from "../bench-context.ts";
import type { FreshPaths, LoadResult, LoadTarget } from "../load-generator.ts";
import { createRatioRow, type ReportRow } from "../report.ts";
import { measureInRounds, warmUp, type RoundPlan } from "../rounds.ts";
import type { BenchDatabase } from "../service-process.ts";
import type { BenchServer } from "../workspace.ts";

const PART = "history";
const PLAN: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };

/** The shorts of the list. */
export const SHORTS = 500_000;

/** Pages that are read, at equal distances over the list. */
const PAGES = 200;

/** The requests of home for lists of more than a page, each of which costs a credit. */
const HOME_REQUESTS = 5;

const WEEK_MS = 7 * 86_400_000;

/** @param plain Pages of the plain list of channels. */
export async function measureItemLists(
  { load, logProgress }: BenchContext,
  service: BenchServer,
  { file, key }: BenchDatabase,
  { plain, newest }: { readonly plain: readonly FreshPaths[]; readonly newest: number },
): Promise<ReportRow[]> {
  logProgress(`history: pages of ${SHORTS} shorts, and home`);
  const target = (name: string, paths: readonly FreshPaths[]): LoadTarget => {
    return { name, server: service, key, paths };
  };
  const targets = {
    plain: target("pages of the plain list", plain),
    items: target("pages of shorts by age multiple", listItemPages(file)),
    home: target("the requests of home", listHomePaths(newest)),
  };
  await warmUp(load, targets, PLAN.connections);
  const results = await measureInRounds(load, targets, PLAN);
  const cpuUs = (loads: readonly LoadResult[]) => loads.map((each) => each.cpuUs);
  const home = cpuUs(results.home).map((us) => us * HOME_REQUESTS);
  const compare = (what: string, ours: readonly number[], limit: number) =>
    createRatioRow({
      part: PART,
      what,
      unit: "µs of CPU",
      ours,
      theirs: cpuUs(results.plain),
      target: atMost(limit),
    });
  return [
    compare(
      "100 of 500,000 shorts by ageMultiple / page of the plain list",
      cpuUs(results.items),
      1.5,
    ),
    compare("home / page of the plain list", home, 4),
  ];
}

function listItemPages(file: string): FreshPaths[] {
  const database = new Database(file, { readonly: true });
  const positions = database
    .query<ListPosition, []>(
      `SELECT age_multiple AS figure, id
      FROM short_figures
      ORDER BY age_multiple DESC NULLS LAST, id`,
    )
    .all();
  database.close();
  const step = SHORTS / PAGES;
  return positions
    .filter((_, index) => index % step === step / 2)
    .map((position) => {
      const list = { kind: "short", sort: "ageMultiple", order: "desc" } as const;
      const cursor = encodeListCursor(position, list);
      const before = `/api/video/shorts?limit=100&sort=ageMultiple&cursor=${cursor}&_n=`;
      return { before, after: "-", users: 1 };
    });
}

/** The requests of home, where all lists have more than a page; those for users are the same. */
function listHomePaths(newest: number): FreshPaths[] {
  const gain = "weeklySubscriberGain";
  const fields = `subscribers,${gain},monthlySubscriberGain,${gain}Percent`;
  const from = formatInstant(newest - WEEK_MS);
  const channels = `/api/video/channels?fields=${fields}`;
  return [
    `${channels}&limit=50&sort=${gain}`,
    `${channels}&limit=15&sort=${gain}Percent&minSubscribers=1000`,
    `${channels}&limit=50&sort=${gain}`,
    `${channels}&limit=15&sort=${gain}Percent&minSubscribers=1000`,
    `/api/video/shorts?limit=10&sort=ageMultiple&from=${from}&fields=title,views,ageHours,ageMultiple`,
  ].map((path) => ({ before: `${path}&_n=`, after: "-", users: 1 }));
}
