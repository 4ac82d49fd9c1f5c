/** Measures targets alternately, so that other load on the machine affects all of them. */
import type { LoadGenerator, LoadResult, LoadTarget } from "./load-generator.ts";

/** The duration and number of rounds. */
export interface RoundPlan {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

const WARM_UP_S = 1;

/** The result of each target in the warm-up. */
export async function warmUp<Name extends string>(
  load: LoadGenerator,
  targets: Readonly<Record<Name, LoadTarget>>,
  connections: number,
): Promise<Record<Name, LoadResult>> {
  const results: Partial<Record<Name, LoadResult>> = {};
  for (const name of keysOf(targets)) {
    results[name] = await load(targets[name], connections, WARM_UP_S);
  }
  return results as Record<Name, LoadResult>;
}

/** The results of each target by round. Every round begins with another target. */
export async function measureInRounds<Name extends string>(
  load: LoadGenerator,
  targets: Readonly<Record<Name, LoadTarget>>,
  { connections, rounds, seconds }: RoundPlan,
): Promise<Record<Name, LoadResult[]>> {
  const names = keysOf(targets);
  const results = Object.fromEntries(
    names.map((name) => [name, new Array<LoadResult>()]),
  ) as Record<Name, LoadResult[]>;
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      results[name].push(await load(targets[name], connections, seconds));
    }
  }
  return results;
}

function keysOf<Name extends string>(targets: Readonly<Record<Name, LoadTarget>>): Name[] {
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
