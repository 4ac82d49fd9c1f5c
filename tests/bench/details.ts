/** What metering costs: details, charged, beside bare Elysia and beside the afternoon version. */
import { join } from "node:path";
import type { Load, Target } from "./load.ts";
import { atLeast, memoryRows, withSides, type Surroundings } from "./parts.ts";
import { ratioRow, type Row } from "./report.ts";
import { alternate, ratesOf, warmUp, type Plan } from "./rounds.ts";
import {
  answerOf,
  copyStore,
  expectSame,
  makeStore,
  settingsOf,
  startService,
  startSide,
  verb,
  type Store,
} from "./service.ts";
import type { Side, Workspace } from "./workspace.ts";

const PART = "details";
const PATH = "/api/microblog/slowcompiler/details";
const ROUTE = "/api/microblog/:username/details";
const FEW: Plan = { connections: 64, rounds: 5, seconds: 2 };
const MANY: Plan = { ...FEW, connections: 256 };

/** Measures details in both durabilities, with few and with many connections. */
export async function details({ workspace, load, say }: Surroundings): Promise<Row[]> {
  const store = await prepare(workspace);
  const copy = await copyStore(store, "details-process");
  const power = await startService(workspace, store);
  const body = await answerOf(power, PATH, store.key);
  const afternoon = [join(workspace.folder, "afternoon.db"), store.key];
  const sides = {
    power,
    process: await startService(workspace, copy, "process"),
    bare: await startSide(workspace, "bare", [ROUTE], body),
    afternoon: await startSide(workspace, "afternoon", afternoon, body),
  };
  return withSides(sides, async () => {
    for (const [name, side] of Object.entries(sides)) {
      expectSame(name, body, await answerOf(side, PATH, store.key));
    }
    const target = (name: string, { origin }: Side): Target => ({
      name: `details, ${name}`,
      origin,
      key: store.key,
      paths: PATH,
    });
    const targets = {
      power: target("power", sides.power),
      process: target("process", sides.process),
      bare: target("bare", sides.bare),
    };
    say("details: 64 connections");
    const withAfternoon = { ...targets, afternoon: target("afternoon", sides.afternoon) };
    const few = await measure(load, withAfternoon, FEW);
    say("details: 256 connections");
    const many = await measure(load, targets, MANY);
    return [
      compare("power / bare Elysia, 64 connections", few.power, few.bare, 0.7),
      compare("power / bare Elysia, 256 connections", many.power, many.bare, 0.85),
      compare("process / bare Elysia, 64 connections", few.process, few.bare, 0.8),
      compare("process / bare Elysia, 256 connections", many.process, many.bare, 0.9),
      compare("power / afternoon version, 64 connections", few.power, few.afternoon, 15),
      ...memoryRows(PART, "power", sides.power),
      ...memoryRows(PART, "process", sides.process),
      ...memoryRows(PART, "bare Elysia", sides.bare),
      ...memoryRows(PART, "afternoon version", sides.afternoon),
    ];
  });
}

function compare(
  what: string,
  ours: readonly number[],
  theirs: readonly number[],
  least: number,
): Row {
  const target = atLeast(least);
  return ratioRow({ part: PART, what, unit: "answers/s", ours, theirs, target });
}

/** A user with 45 days of observations. */
async function prepare(workspace: Workspace): Promise<Store> {
  const store = await makeStore(workspace, "details-power");
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
  await workspace.run(verb("import", file), { settings: settingsOf(store.file) });
  return store;
}

async function measure<Name extends string>(
  load: Load,
  targets: Readonly<Record<Name, Target>>,
  plan: Plan,
): Promise<Record<Name, number[]>> {
  await warmUp(load, targets, plan.connections);
  const found = await alternate(load, targets, plan);
  const rates: Partial<Record<Name, number[]>> = {};
  for (const name in found) rates[name] = ratesOf(found[name]);
  return rates as Record<Name, number[]>;
}
