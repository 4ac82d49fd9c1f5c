/** Measures sides in turns, so that what the machine does meanwhile befalls all alike. */
import type { Load, Loaded, Target } from "./load.ts";

/** How long and how often. */
export interface Plan {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

const WARM_UP_S = 1;

/** What each target gave in the warm-up. */
export async function warmUp<Name extends string>(
  load: Load,
  targets: Readonly<Record<Name, Target>>,
  connections: number,
): Promise<Record<Name, Loaded>> {
  const found: Partial<Record<Name, Loaded>> = {};
  for (const name of namesOf(targets)) {
    found[name] = await load(targets[name], connections, WARM_UP_S);
  }
  return found as Record<Name, Loaded>;
}

/** What each target gave, round by round. Every round begins with the next target. */
export async function alternate<Name extends string>(
  load: Load,
  targets: Readonly<Record<Name, Target>>,
  { connections, rounds, seconds }: Plan,
): Promise<Record<Name, Loaded[]>> {
  const names = namesOf(targets);
  const found = Object.fromEntries(names.map((name) => [name, new Array<Loaded>()])) as Record<
    Name,
    Loaded[]
  >;
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      found[name].push(await load(targets[name], connections, seconds));
    }
  }
  return found;
}

function namesOf<Name extends string>(targets: Readonly<Record<Name, Target>>): Name[] {
  return Object.keys(targets) as Name[];
}

/** The rates of some loads. */
export function ratesOf(loads: readonly Loaded[]): number[] {
  return loads.map(({ rate }) => rate);
}
