/** Measures the cost of metering: charged details against bare Elysia and a naive server. */
import { join } from "node:path";
import type { LoadGenerator, LoadTarget } from "./load-generator.ts";
import { atLeast, createMemoryRows, withServers, type BenchContext } from "./bench-context.ts";
import { createRatioRow, type ReportRow } from "./report.ts";
import { measureInRounds, pickRates, warmUp, type RoundPlan } from "./rounds.ts";
import {
  fetchAnswer,
  copyBenchDatabase,
  assertSameAnswer,
  createBenchDatabase,
  databaseSettings,
  startServiceProcess,
  startBaseline,
  verbCommand,
  type BenchDatabase,
} from "./service-process.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

const PART = "details";
const PATH = "/api/microblog/slowcompiler/details";
const ROUTE = "/api/microblog/:username/details";
const FEW_CONNECTIONS: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };
const MANY_CONNECTIONS: RoundPlan = { ...FEW_CONNECTIONS, connections: 256 };

/** Measures details with both durability settings, with few and with many connections. */
export async function measureDetails({
  workspace,
  load,
  logProgress,
}: BenchContext): Promise<ReportRow[]> {
  const store = await prepareDatabase(workspace);
  const copy = await copyBenchDatabase(store, "details-process");
  const power = await startServiceProcess(workspace, store);
  const body = await fetchAnswer(power, PATH, store.key);
  const naive = [join(workspace.folder, "naive.db"), store.key];
  const servers = {
    power,
    process: await startServiceProcess(workspace, copy, "process"),
    bare: await startBaseline(workspace, "elysia-server", [ROUTE], body),
    naive: await startBaseline(workspace, "naive-server", naive, body),
  };
  return withServers(servers, async () => {
    for (const [name, side] of Object.entries(servers)) {
      assertSameAnswer(name, body, await fetchAnswer(side, PATH, store.key));
    }
    const target = (name: string, { origin }: BenchServer): LoadTarget => ({
      name: `details, ${name}`,
      origin,
      key: store.key,
      paths: PATH,
    });
    const targets = {
      power: target("power", servers.power),
      process: target("process", servers.process),
      bare: target("bare", servers.bare),
    };
    logProgress("details: 64 connections");
    const withNaive = { ...targets, naive: target("naive", servers.naive) };
    const few = await measureRates(load, withNaive, FEW_CONNECTIONS);
    logProgress("details: 256 connections");
    const many = await measureRates(load, targets, MANY_CONNECTIONS);
    return [
      createRow("power / bare Elysia, 64 connections", few.power, few.bare, 0.7),
      createRow("power / bare Elysia, 256 connections", many.power, many.bare, 0.85),
      createRow("process / bare Elysia, 64 connections", few.process, few.bare, 0.8),
      createRow("process / bare Elysia, 256 connections", many.process, many.bare, 0.9),
      createRow("power / naive server, 64 connections", few.power, few.naive, 15),
      ...createMemoryRows(PART, "power", servers.power),
      ...createMemoryRows(PART, "process", servers.process),
      ...createMemoryRows(PART, "bare Elysia", servers.bare),
      ...createMemoryRows(PART, "naive server", servers.naive),
    ];
  });
}

function createRow(
  what: string,
  ours: readonly number[],
  theirs: readonly number[],
  minRatio: number,
): ReportRow {
  const target = atLeast(minRatio);
  return createRatioRow({ part: PART, what, unit: "responses/s", ours, theirs, target });
}

/** A user with 45 days of observations. */
async function prepareDatabase(workspace: Workspace): Promise<BenchDatabase> {
  const store = await createBenchDatabase(workspace, "details-power");
  const days = Array.from({ length: 45 }, (_, day) => Date.UTC(2026, 0, 1 + day));
  const lines = days.map((at, day) =>
    JSON.stringify({
      kind: "user",
      observedAt: new Date(at).toISOString(),
      username: "SlowCompiler",
      displayName: "The Slow Compiler",
      followers_count: 144_000 + 21 * day,
      following_count: 310,
      tweet_count: 5200 + day,
      profile_image_url: "https://example.com/microblog/slowcompiler/avatar.jpg",
      description: "Still linking. Notes on type systems, build times and tea.",
      created_at: "2016-04-02T09:12:44Z",
      verified: true,
    }),
  );
  const file = join(workspace.folder, "details.ndjson");
  await Bun.write(file, lines.join("\n"));
  await workspace.run(verbCommand("import", file), { settings: databaseSettings(store.file) });
  return store;
}

async function measureRates<Name extends string>(
  load: LoadGenerator,
  targets: Readonly<Record<Name, LoadTarget>>,
  plan: RoundPlan,
): Promise<Record<Name, number[]>> {
  await warmUp(load, targets, plan.connections);
  const results = await measureInRounds(load, targets, plan);
  const rates: Partial<Record<Name, number[]>> = {};
  for (const name in results) rates[name] = pickRates(results[name]);
  return rates as Record<Name, number[]>;
}
