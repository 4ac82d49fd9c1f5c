/**
 * Prints how the channels of an export grew, with Deno.
 *
 *     bun server/main.ts export | deno run channel-growth.ts
 *     deno run --allow-read channel-growth.ts export.ndjson
 */
import {
  compareListPositions,
  computeEntityGains,
  EMPTY_ENTITY,
  findNewestCounts,
  applyObservations,
  parseObservationLine,
  readFields,
  type Observation,
} from "@creator-metrics/core";

const [file] = Deno.args;
const input = file === undefined ? Deno.stdin.readable : (await Deno.open(file)).readable;

async function* readLines(): AsyncGenerator<string> {
  let rest = "";
  for await (const text of input.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

const observations = new Map<string, Observation[]>();
for await (const line of readLines()) {
  const observation = parseObservationLine(line, Date.now());
  if (observation.kind !== "channel") continue;
  const ofChannel = observations.get(observation.entityId);
  if (ofChannel === undefined) observations.set(observation.entityId, [observation]);
  else ofChannel.push(observation);
}

const channels = Array.from(observations, ([id, ofChannel]) => {
  const { entity } = applyObservations(EMPTY_ENTITY, ofChannel);
  const { dailySubscriberGain, weeklySubscriberGain, monthlySubscriberGain } = computeEntityGains(
    "channel",
    entity,
  );
  const name = readFields("channel", id, entity).username ?? id;
  const subscribers = findNewestCounts(entity)?.counts["subscribers"];
  const counts = [subscribers, dailySubscriberGain, weeklySubscriberGain, monthlySubscriberGain];
  return { name, counts, position: { figure: weeklySubscriberGain ?? null, id } };
});
// The fastest growing channel comes first, those whose growth is unknown come last.
channels.sort((a, b) => compareListPositions(a.position, b.position, "desc"));

const format = (name: string, ...columns: readonly (string | number | null | undefined)[]) =>
  name.padEnd(24) + columns.map((column) => String(column ?? "?").padStart(12)).join("");

console.log(format("channel", "subscribers", "day", "week", "month"));
for (const { name, counts } of channels) console.log(format(name, ...counts));
