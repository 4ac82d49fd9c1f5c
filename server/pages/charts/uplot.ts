/**
 * Loads uPlot, which draws the charts. It is a third of all script, 21 kB compressed: pages without
 * a chart load none of it.
 */
import type UPlot from "uplot";

let loading: Promise<typeof UPlot> | undefined;
let loaded: typeof UPlot | undefined;

/** Loads uPlot once, or again after a failure. */
export async function loadUplot(): Promise<void> {
  loading ??= import("uplot").then((module) => module.default);
  loading.catch(() => (loading = undefined));
  loaded = await loading;
}

/** @throws {Error} If uPlot is not loaded. */
export function getUplot(): typeof UPlot {
  if (loaded === undefined) throw new Error("uPlot is not loaded");
  return loaded;
}
