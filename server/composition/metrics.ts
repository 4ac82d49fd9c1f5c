/** Creates the metrics of the service, from what its parts count and its databases tell. */
import type { Config } from "../config.ts";
import { isMetricsAccessLimited } from "../http/metrics/access.ts";
import { createMetrics } from "../http/metrics/metrics.ts";
import { forecastCredits } from "../store/accounts/credit-forecast.ts";
import type { Databases } from "./databases.ts";

type MetricsOptions = Parameters<typeof createMetrics>[0];

export const createServiceMetrics = (
  config: Config,
  parts: Omit<MetricsOptions, "forecastCredits"> & { readonly databases: Databases },
) =>
  createMetrics({
    ...parts,
    forecastCredits: isMetricsAccessLimited(config)
      ? (max) => forecastCredits(parts.databases.ledger, parts.now(), max)
      : undefined,
  });
