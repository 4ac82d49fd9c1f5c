/** Measures targets alternately, so that other load on the machine affects all of them. */
import type { LoadResult } from "./load-generator.ts";

/** Loads a target of any kind. */
type Load<Target, Result> = (
  target: Target,
  connections: number,
  seconds: number,
) => Promise<Result>;

/** The duration and number of rounds. */
export interface RoundPlan {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

/**
 * The runtime compiles a service for about this long under load: in the first two seconds, a cached
 * read takes 18.4 µs of CPU time, after 8 seconds 14.6 µs.
 */
export const COMPILING_S = 8;

/** The result of each target in the warm-up. */
export async function warmUp<Name extends string, Target, Result>(
  load: Load<Target, Result>,
  targets: Readonly<Record<Name, Target>>,
  connections: number,
  seconds = 1,
): Promise<Record<Name, Result>> {
  const results: Partial<Record<Name, Result>> = {};
  for (const name of keysOf(targets)) {
    results[name] = await load(targets[name], connections, seconds);
  }
  return results as Record<Name, Result>;
}

/** The results of each target by round. Every round begins with another target. */
export async function measureInRounds<Name extends string, Target, Result>(
  load: Load<Target, Result>,
  targets: Readonly<Record<Name, Target>>,
  { connections, rounds, seconds }: RoundPlan,
): Promise<Record<Name, Result[]>> {
  const names = keysOf(targets);
  const results = Object.fromEntries(names.map((name) => [name, new Array<Result>()])) as Record<
    Name,
    Result[]
  >;
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      results[name].push(await load(targets[name], connections, seconds));
    }
  }
  return results;
}

function keysOf<Name extends string>(targets: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(targets) as Name[];
}

/** The CPU times of the server for each response of some loads. */
export function pickCpuTimes(loads: readonly LoadResult[]): number[] {
  return loads.map(({ cpuUs }) => cpuUs);
}

/** The request rates of some loads. */
export function pickRates(loads: readonly LoadResult[]): number[] {
  return loads.map(({ rate }) => rate);
}
