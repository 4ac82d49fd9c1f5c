/** The types of probe.mjs. */
export function digestResults(core: Readonly<Record<string, unknown>>, rounds: number): string;
